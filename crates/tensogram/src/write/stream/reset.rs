//! One message after the other, in memory.

use super::{Lengths, StreamingEncoder, back_fill};
use crate::error::Result;
use std::io::Cursor;

impl StreamingEncoder<Vec<u8>> {
    /// Ends the message, returns its bytes, and begins a new one with the same metadata.
    ///
    /// Bytes that were in the sink before the message stay there.
    ///
    /// # Errors
    /// As [`StreamingEncoder::finish`].
    pub fn finish_and_reset(&mut self, lengths: Lengths) -> Result<Vec<u8>> {
        self.end()?;
        let end = self.sink.len();
        let message = taken(&mut self.sink, end, self.written, lengths)?;
        self.begin()?;
        Ok(message)
    }
}

impl StreamingEncoder<Cursor<Vec<u8>>> {
    /// Ends the message, takes its bytes out of the cursor, and begins a new one with the same metadata in the same place.
    ///
    /// Bytes before and after the message stay in the cursor.
    ///
    /// ```
    /// use fw_tensogram::{DType, DataObjectDescriptor, EncodeOptions, GlobalMetadata, Lengths, StreamingEncoder, scan};
    /// use std::io::Cursor;
    ///
    /// let sink = Cursor::new(Vec::new());
    /// let mut stream = StreamingEncoder::new(sink, &GlobalMetadata::default(), &EncodeOptions::default())?;
    /// let descriptor = DataObjectDescriptor::new(DType::UInt8, &[4])?;
    /// for step in 0..3u8 {
    ///     stream.write_object(&descriptor, &[step; 4])?;
    ///     let message = stream.finish_and_reset(Lengths::BackFilled)?;
    ///     assert_eq!(scan(&message).len(), 1);
    /// }
    /// # Ok::<(), fw_tensogram::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// As [`StreamingEncoder::finish`].
    pub fn finish_and_reset(&mut self, lengths: Lengths) -> Result<Vec<u8>> {
        self.end()?;
        let end = usize::try_from(self.sink.position()).map_err(std::io::Error::other)?;
        let message = taken(self.sink.get_mut(), end, self.written, lengths)?;
        self.sink.set_position((end - message.len()) as u64);
        self.begin()?;
        Ok(message)
    }
}

/// Takes the message of `length` bytes that ends at `end` out of `buffer`.
fn taken(buffer: &mut Vec<u8>, end: usize, length: u64, lengths: Lengths) -> Result<Vec<u8>> {
    let outside = || std::io::Error::other("the message is not where it was written");
    let start = usize::try_from(length).ok().and_then(|length| end.checked_sub(length)).ok_or_else(outside)?;
    let mut message = if start == 0 && end == buffer.len() {
        // Nothing else is in the buffer: no copy.
        std::mem::take(buffer)
    } else if end <= buffer.len() {
        buffer.drain(start..end).collect()
    } else {
        return Err(outside().into());
    };
    if lengths == Lengths::BackFilled {
        let mut cursor = Cursor::new(&mut message);
        cursor.set_position(length);
        back_fill(&mut cursor, length)?;
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, Provenance};
    use fw_tensor::DType;
    use std::io::{Seek, SeekFrom};

    fn options() -> EncodeOptions {
        let fixed = |text: &str| text.to_owned();
        let (encoder_name, encoder_version) = (fixed("test"), fixed("0"));
        let provenance = Provenance { encoder_name, encoder_version, time: fixed(""), uuid: fixed("") };
        EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
    }

    fn write<W: std::io::Write>(stream: &mut StreamingEncoder<W>, step: u8) {
        stream.write_object(&DataObjectDescriptor::new(DType::UInt8, &[4]).unwrap(), &[step; 4]).unwrap();
    }

    /// TG-11.3: a cursor and a vector give the bytes of separate encoders, message after message.
    #[test]
    fn every_message_is_as_if_written_alone() {
        let (metadata, options) = (GlobalMetadata::default(), options());
        let mut vector = StreamingEncoder::new(Vec::new(), &metadata, &options).unwrap();
        let mut cursor = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options).unwrap();
        for (step, lengths) in [(1, Lengths::Unknown), (2, Lengths::BackFilled), (3, Lengths::BackFilled)] {
            let mut alone = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options).unwrap();
            write(&mut alone, step);
            let alone = match lengths {
                Lengths::Unknown => alone.finish(),
                Lengths::BackFilled => alone.finish_with_backfill(),
            };
            let alone = alone.unwrap().into_inner();
            write(&mut vector, step);
            write(&mut cursor, step);
            assert_eq!(vector.finish_and_reset(lengths).unwrap(), alone);
            assert_eq!(cursor.finish_and_reset(lengths).unwrap(), alone);
        }
        assert_eq!(crate::scan(&cursor.finish().unwrap().into_inner()).len(), 1);
    }

    #[test]
    fn what_else_the_sink_holds_stays() {
        let (metadata, options) = (GlobalMetadata::default(), options());
        let mut vector = StreamingEncoder::new(b"before".to_vec(), &metadata, &options).unwrap();
        let mut sink = Cursor::new(b"before".to_vec());
        sink.seek(SeekFrom::End(0)).unwrap();
        let mut cursor = StreamingEncoder::new(sink, &metadata, &options).unwrap();
        write(&mut vector, 1);
        write(&mut cursor, 1);
        let message = vector.finish_and_reset(Lengths::BackFilled).unwrap();
        assert_eq!(cursor.finish_and_reset(Lengths::BackFilled).unwrap(), message);
        assert_eq!(crate::scan(&message), [fw_bytes::Span::new(0, message.len() as u64)]);
        let left = cursor.finish().unwrap().into_inner();
        assert!(left.starts_with(b"before") && crate::scan(&left).len() == 1);
        assert!(vector.finish().unwrap().starts_with(b"before"));
    }

    #[test]
    fn a_waiting_preceder_stops_it() {
        let mut stream =
            StreamingEncoder::new(Cursor::new(Vec::new()), &GlobalMetadata::default(), &options()).unwrap();
        stream.write_preceder(&crate::metadata! { "a": 1 }).unwrap();
        assert_eq!(stream.finish_and_reset(Lengths::Unknown).unwrap_err().code(), "dangling_preceder");
        write(&mut stream, 1);
        assert!(stream.finish_and_reset(Lengths::Unknown).is_ok());
    }
}
