//! Which codecs a descriptor names, with their parameters read from its keys and written to them (TG-C1.2, TG-C2).
//!
//! Names, keys and their types are those of the table of `fw-codec`; here is only how a descriptor stores them.

use crate::describe::{DataObjectDescriptor, MetadataMap, Value};
use crate::error::{ErrorKind, Fault, Result, TensogramError};
use fw_codec::chain::{Compression, Encoding, Filter, Pipe, Pipeline, Stages};
use fw_codec::spec::{CodecInfo, Param, ParamError, ParamProblem, ParamSource};

impl DataObjectDescriptor {
    /// States how the object is coded; any codecs and parameters stated before are replaced.
    ///
    /// ```
    /// use fw_tensogram::{DataObjectDescriptor, Pipe};
    /// use fw_tensor::DType;
    ///
    /// let descriptor = DataObjectDescriptor::new(DType::Float32, &[721, 1440])?.with_pipeline(Pipe::shuffle().zstd(3))?;
    /// assert_eq!((descriptor.filter.as_str(), descriptor.compression.as_str()), ("shuffle", "zstd"));
    /// assert_eq!(descriptor.params["shuffle_element_size"].as_integer(), Some(4));
    /// # Ok::<(), fw_tensogram::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// `Encoding` when something that follows from the tensor cannot be derived. Whether the codecs go together, and fit the
    /// object, is checked when it is encoded.
    pub fn with_pipeline(mut self, pipe: impl Into<Pipe>) -> Result<Self> {
        let stages = pipe.into().stages(self.dtype, self.byte_order)?;
        for key in codecs().flat_map(|codec| codec.keys) {
            self.params.remove(key.name);
        }
        self.encoding = stages.encoding.name().to_owned();
        self.filter = stages.filter.name().to_owned();
        self.compression = stages.compression.name().to_owned();
        stages.write(&mut |key, value| drop(self.params.insert(key.name.to_owned(), stored(value))));
        Ok(self)
    }
}

/// The pipeline of a descriptor, every parameter checked.
///
/// # Errors
/// `Metadata` for parameters that are missing or of the wrong type; `Encoding` for unknown names, values out of range
/// and combinations that cannot be read back.
pub(crate) fn pipeline_of(descriptor: &DataObjectDescriptor) -> Result<Pipeline> {
    check_encoding_dtype(descriptor)?;
    let params = Params(&descriptor.params);
    let stages = Stages {
        encoding: Encoding::read(&descriptor.encoding, &params).map_err(refused)?,
        filter: Filter::read(&descriptor.filter, &params).map_err(refused)?,
        compression: Compression::read(&descriptor.compression, &params).map_err(refused)?,
    };
    Ok(Pipeline::new(stages, descriptor.dtype, descriptor.element_count()?, descriptor.byte_order)?)
}

/// Every codec of every stage.
pub(super) fn codecs() -> impl Iterator<Item = &'static CodecInfo> {
    [Encoding::CODECS, Filter::CODECS, Compression::CODECS].into_iter().flatten().copied()
}

/// A parameter as a descriptor stores it.
pub(super) fn stored(param: Param<'_>) -> Value {
    match param {
        Param::Integer(number) => Value::Integer(number),
        Param::Float(number) => Value::from(number),
        Param::Text(text) => Value::from(text),
        Param::UnsignedList(numbers) => Value::Array(numbers.into_iter().map(Value::from).collect()),
        // Only lookups give this; no codec writes it.
        Param::Other(_) => Value::Null,
    }
}

/// Asked before parameters are read: on another type they would not help.
fn check_encoding_dtype(descriptor: &DataObjectDescriptor) -> Result<()> {
    let DataObjectDescriptor { encoding, dtype, .. } = descriptor;
    match Encoding::CODECS.iter().find(|codec| codec.name == encoding) {
        Some(codec) if !codec.dtypes.contains(*dtype) => {
            let message = format!("{encoding} only supports {}, not {dtype}", codec.dtypes);
            Err(TensogramError::Encoding(Fault::misuse("unsupported_combination", message)))
        }
        _ => Ok(()),
    }
}

/// The parameters of a descriptor.
struct Params<'d>(&'d MetadataMap);

impl ParamSource for Params<'_> {
    fn param(&self, key: &str) -> Option<Param<'_>> {
        let value = self.0.get(key)?;
        Some(match value {
            Value::Integer(number) => Param::Integer(*number),
            Value::Float(number) => Param::Float(*number),
            Value::Text(text) => Param::Text(text),
            Value::Array(items) => {
                let number = |item: &Value| item.as_integer().and_then(|number| u64::try_from(number).ok());
                let numbers: Option<Vec<u64>> = items.iter().map(number).collect();
                numbers.map_or(Param::Other(value.kind()), Param::UnsignedList)
            }
            other => Param::Other(other.kind()),
        })
    }
}

fn refused(error: ParamError) -> TensogramError {
    let (key, path) = (error.key, format!("descriptor.{}", error.key));
    let unusable = |problem: &str| {
        let fault = Fault::format("codec_parameter", format!("{key}: {problem}"));
        TensogramError::Metadata(fault.on(&path))
    };
    match &error.problem {
        ParamProblem::UnknownName(name) => {
            let fault = Fault::new(ErrorKind::Unsupported, "unknown_codec", format!("unknown {key} {name:?}"));
            TensogramError::Encoding(fault.on(path))
        }
        ParamProblem::Missing => unusable("the codec needs this parameter"),
        ParamProblem::Unusable(problem) => unusable(problem),
        other => unusable(&format!("{other:?}")),
    }
}
