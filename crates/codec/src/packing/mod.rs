//! `simple_packing`: doubles as unsigned integers of a fixed number of bits, as GRIB does it.
//!
//! With reference value `R`, binary scale `E`, decimal scale `D` and `B` bits, a value `v` is stored as
//! `q = round((v - R) · 10^D · 2^-E)`, kept within `0 .. 2^B - 1`, and read back as `R + 2^E · 10^-D · q`. Bits run from the most
//! significant down, without gaps. Specification: TG-C5. Results are the same to the last bit on every
//! machine and for every number of threads.
//!
//! **GRIB.** Without a decimal scale (`D = 0`) this is `grid_simple` of GRIB 2 to the last bit: packed bytes and decoded values
//! are the same for the same `R`, `E` and `B`, in both directions. With one, GRIB computes `(R + 2^E · q) / 10^D` and keeps `R` in
//! scaled units as a 32-bit float, while the format here scales the parts: for the same field `R` differs by the factor
//! `10^D`, packed values by at most one, and decoded values in the last bits (a relative 1e-12 at most).
//!
//! ```
//! use fw_codec::packing::{Packing, Request};
//! use fw_tensor::ByteOrder;
//!
//! let values: Vec<u8> = [250.0f64, 251.3, 252.7].iter().flat_map(|v| v.to_le_bytes()).collect();
//! let packing = Packing::derive(Request::bits(16), &values, ByteOrder::Little, 1).unwrap();
//! assert_eq!((packing.reference_value(), packing.binary_scale_factor()), (250.0, -14));
//! let mut packed = [0; 6];
//! packing.pack(&values, ByteOrder::Little, 1, &mut packed).unwrap();
//! assert_eq!(packed, [0x00, 0x00, 0x53, 0x33, 0xac, 0xcd]);
//! ```

mod bits; // integers of any width, most significant bit first
mod pack; // doubles to bits
mod scale; // powers of ten and two, as the format evaluates them
mod unpack; // bits to doubles

use crate::{CodecError, alloc, finite};
use fw_tensor::ByteOrder;
use std::ops::Range;

pub use crate::spec::SimplePacking as Request;

impl Request {
    /// The complete parameters, when reference value and binary scale factor are both given; `None` when neither is.
    ///
    /// # Errors
    /// More than 64 bits, one of the pair without the other, or a reference value that is not finite.
    pub fn complete(&self) -> Result<Option<Packing>, CodecError> {
        let bits = self.checked_bits()?;
        match (self.sp_reference_value, self.sp_binary_scale_factor) {
            (None, None) => Ok(None),
            (Some(reference), Some(binary)) => {
                if !reference.is_finite() {
                    return Err(bad_reference(reference));
                }
                Ok(Some(Packing { bits, reference, binary, decimal: self.sp_decimal_scale_factor.unwrap_or(0) }))
            }
            (Some(_), None) | (None, Some(_)) => Err(Self::incomplete()),
        }
    }
}

/// Complete packing parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packing {
    bits: u32,
    reference: f64,
    binary: i32,
    decimal: i32,
}

impl Packing {
    /// Completes `request` from whole doubles in `order`; given parameters are taken as they are.
    ///
    /// # Errors
    /// As [`Request::complete`]; NaN or infinity in the data (naming the element); a range that would need a binary
    /// scale factor outside -256 to 256.
    pub fn derive(request: Request, values: &[u8], order: ByteOrder, threads: usize) -> Result<Self, CodecError> {
        let packing = match request.complete()? {
            Some(packing) => packing,
            None => Self::from_values(request, values, order, threads)?,
        };
        packing.check_encodable()?;
        Ok(packing)
    }

    fn from_values(request: Request, values: &[u8], order: ByteOrder, threads: usize) -> Result<Self, CodecError> {
        let bits = request.checked_bits()?;
        let decimal = request.sp_decimal_scale_factor.unwrap_or(0);
        let constant = |reference: f64| Self { bits, reference, binary: 0, decimal };
        let Some(first) = values.first_chunk::<8>() else { return Ok(constant(0.0)) };
        if bits == 0 {
            let first = pack::read(first, order);
            return if first.is_finite() { Ok(constant(first)) } else { Err(bad_reference(first)) };
        }
        let found = finite::extrema(values, order, threads)
            .map_err(|(index, kind)| finite::not_allowed(values, 0, index, kind, fw_tensor::DType::Float64, order))?;
        let range = (found.max - found.min) * scale::power_of_ten(decimal);
        let binary = if range == 0.0 { 0 } else { (range / scale::largest(bits) as f64).log2().ceil() as i32 };
        Ok(Self { bits, reference: found.min, binary, decimal })
    }

    /// Completes `request` from the data and appends the packed values to `out`.
    ///
    /// # Errors
    /// As [`Packing::derive`] and [`Packing::pack`].
    pub fn encode(
        request: Request,
        values: &[u8],
        order: ByteOrder,
        threads: usize,
        out: &mut Vec<u8>,
    ) -> Result<Self, CodecError> {
        let packing = Self::derive(request, values, order, threads)?;
        let len = packing.packed_len(values.len() as u64 / 8).and_then(|len| usize::try_from(len).ok());
        let target = alloc::extend(out, len.unwrap_or(usize::MAX))?;
        // Deriving from the data has seen every value already.
        match request.sp_reference_value {
            Some(_) => packing.pack(values, order, threads, target)?,
            None => packing.pack_finite(values, order, threads, target)?,
        }
        Ok(packing)
    }

    /// Checks what decoders of the format rely on.
    fn check_encodable(&self) -> Result<(), CodecError> {
        if (-256..=256).contains(&self.binary) {
            return Ok(());
        }
        Err(CodecError::misuse(
            NAME,
            "sp_binary_scale_factor_range",
            format!(
                "sp_binary_scale_factor is {}, expected -256 to 256: the range of values is too extreme",
                self.binary
            ),
        ))
    }

    /// Bits per value.
    pub const fn bits_per_value(&self) -> u32 {
        self.bits
    }

    /// The reference value.
    pub const fn reference_value(&self) -> f64 {
        self.reference
    }

    /// The binary scale factor.
    pub const fn binary_scale_factor(&self) -> i32 {
        self.binary
    }

    /// The decimal scale factor.
    pub const fn decimal_scale_factor(&self) -> i32 {
        self.decimal
    }

    /// The parameters as a descriptor states them.
    pub const fn to_request(&self) -> Request {
        Request {
            sp_bits_per_value: self.bits as u64,
            sp_decimal_scale_factor: Some(self.decimal),
            sp_reference_value: Some(self.reference),
            sp_binary_scale_factor: Some(self.binary),
        }
    }

    /// Bytes that `count` packed values take, or `None` when that does not fit in 64 bits.
    pub fn packed_len(&self, count: u64) -> Option<u64> {
        count.checked_mul(u64::from(self.bits)).map(|bits| bits.div_ceil(8))
    }

    /// The packed bytes that hold the elements of `range`, whose end must not lie past the whole.
    pub fn packed_span(&self, range: Range<u64>) -> Option<Range<u64>> {
        let bits = u64::from(self.bits);
        let start = range.start.checked_mul(bits)? / 8;
        Some(start..self.packed_len(range.end)?.max(start))
    }

    /// Packs whole doubles in `order` into `out`, which must have exactly the packed length.
    ///
    /// # Errors
    /// NaN or infinity in the data, lengths that do not fit, or parameters no decoder accepts.
    pub fn pack(&self, values: &[u8], order: ByteOrder, threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        self.check_encodable()?;
        if self.bits > 0 {
            finite::check_finite(values, fw_tensor::DType::Float64, order, threads)?;
        }
        self.pack_finite(values, order, threads, out)
    }

    /// [`Packing::pack`] for values known to be finite.
    pub(crate) fn pack_finite(
        &self,
        values: &[u8],
        order: ByteOrder,
        threads: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let count = values.len() as u64 / 8;
        if !values.len().is_multiple_of(8) || self.packed_len(count) != Some(out.len() as u64) {
            return Err(CodecError::misuse(
                NAME,
                "packed_length_mismatch",
                format!("{} bytes of doubles do not pack into {} bytes", values.len(), out.len()),
            ));
        }
        pack::pack(self, values, order, threads, out)
    }

    /// Unpacks all of `packed` into doubles in `order`, which must fill `out` exactly.
    ///
    /// # Errors
    /// When `packed` is not exactly as long as the values of `out` need.
    pub fn unpack(&self, packed: &[u8], order: ByteOrder, threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        let count = out.len() as u64 / 8;
        if !out.len().is_multiple_of(8) || self.packed_len(count) != Some(packed.len() as u64) {
            return Err(CodecError::format(
                NAME,
                "packed_length_mismatch",
                format!(
                    "{count} values of {} bits take {} bytes, found {}",
                    self.bits,
                    self.packed_len(count).map_or_else(|| "too many".to_owned(), |len| len.to_string()),
                    packed.len()
                ),
            ));
        }
        unpack::unpack(self, packed, 0, order, threads, out)
    }

    /// Unpacks the elements from `first` on into `out`; `packed` are the bytes of [`Packing::packed_span`].
    ///
    /// # Errors
    /// When `packed` has another length than that span.
    pub fn unpack_range(
        &self,
        packed: &[u8],
        first: u64,
        order: ByteOrder,
        threads: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let count = out.len() as u64 / 8;
        let span = first.checked_add(count).and_then(|end| self.packed_span(first..end));
        if !out.len().is_multiple_of(8) || span.map(|span| span.end - span.start) != Some(packed.len() as u64) {
            return Err(CodecError::misuse(
                NAME,
                "packed_length_mismatch",
                format!(
                    "{} available bytes do not hold {count} values of {} bits from {first}",
                    packed.len(),
                    self.bits
                ),
            ));
        }
        // Only the position within a byte matters from here on: eight values are a whole number of bytes.
        unpack::unpack(self, packed, (first % 8) as usize, order, threads, out)
    }
}

fn bad_reference(reference: f64) -> CodecError {
    CodecError::parameter(
        NAME,
        "sp_reference_value_not_finite",
        format!("sp_reference_value is {reference}, expected a finite value"),
    )
}

const NAME: &str = "simple_packing";

#[cfg(test)]
mod tests;
