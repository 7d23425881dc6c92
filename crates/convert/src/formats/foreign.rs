//! Files that people take for tensor files and that are something else: what they are, and what to do.

use crate::ConvertError;
use std::path::Path;

/// A kind of file.
pub(super) struct Foreign {
    code: &'static str,
    what: &'static str,
    hint: &'static str,
    /// Whether the first bytes of a file of some length show it.
    shows: fn(&[u8], u64) -> bool,
}

/// What the first bytes of a file show that no format fits.
pub(super) fn named(head: &[u8], len: u64) -> Option<&'static Foreign> {
    KINDS.iter().find(|kind| (kind.shows)(head, len))
}

impl Foreign {
    pub(super) fn error(&self, path: &Path) -> ConvertError {
        let message = format!("{}: {}\nhint: {}", path.display(), self.what, self.hint);
        ConvertError::unsupported(self.code, message)
    }
}

const KINDS: &[Foreign] = &[
    Foreign {
        code: "git_lfs_pointer",
        what: "this is a git-lfs pointer, a few lines of text in place of the file",
        hint: "run git lfs pull in the repository, or download the file itself",
        shows: |head, len| len < 1024 && head.starts_with(b"version https://git-lfs.github.com/spec/"),
    },
    Foreign {
        code: "html_page",
        what: "this is a web page (HTML), probably an error or login page saved by a download",
        hint: "open it in a browser to see what it says; download the file again, with an access token if it needs one",
        shows: |head, _| {
            let text = head.trim_ascii_start();
            let starts = |mark: &[u8]| text.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark));
            starts(b"<!doctype html") || starts(b"<html")
        },
    },
    Foreign {
        code: "xml_page",
        what: "this is XML, probably the error message of a store saved by a download",
        hint: "read it: it says why the store refused; download the file again",
        shows: |head, _| head.starts_with(b"<?xml") || head.starts_with(b"<Error>"),
    },
    Foreign {
        code: "legacy_torch",
        what: "this is a PyTorch checkpoint in the form from before version 1.6, a series of pickles",
        hint: "write it in the present form in Python: torch.save(torch.load(FILE, weights_only=True), NEW)",
        shows: |head, _| is_legacy_torch(head),
    },
    Foreign {
        code: "pickle",
        what: "this is a Python pickle, which is a program: it is not run",
        hint: "if you trust it, load it in Python and save its arrays with safetensors, numpy.savez or torch.save",
        // A protocol, then an opcode that something can begin with.
        shows: |head, _| {
            matches!(head, [0x80, 2..=5, b'}' | b']' | b')' | b'(' | b'c' | b'X' | b'C' | 0x8c | 0x8a | 0x95, ..])
        },
    },
    Foreign {
        code: "onnx",
        what: "this is an ONNX model: a graph with its weights",
        hint: "take its weights out in Python: onnx.load(FILE).graph.initializer, onnx.numpy_helper.to_array, numpy.savez",
        shows: |head, _| is_onnx(head),
    },
    Foreign {
        code: "hdf5",
        what: "this is an HDF5 file (Keras weights, NetCDF-4)",
        hint: "read its arrays in Python with h5py and save them with safetensors or numpy.savez",
        shows: |head, _| head.starts_with(b"\x89HDF\r\n\x1a\n"),
    },
    Foreign {
        code: "zip_archive",
        what: "this is a zip archive without NumPy arrays (.npy) and without a PyTorch checkpoint (data.pkl)",
        hint: "unpack it to see what is in it",
        shows: |head, _| head.starts_with(b"PK\x03\x04"),
    },
    Foreign {
        code: "compressed_file",
        what: "this is a file compressed as a whole (gzip, xz, bzip2 or zstd)",
        hint: "unpack it first",
        shows: |head, _| {
            [&b"\x1f\x8b\x08"[..], b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd"].iter().any(|mark| head.starts_with(mark))
        },
    },
    Foreign {
        code: "tar_archive",
        what: "this is a tar archive",
        hint: "unpack it first",
        shows: |head, _| head.get(257..262) == Some(b"ustar"),
    },
];

/// A pickle of the number 0x1950a86a20f9469cfc6c, in protocol 2 or later; the first versions put a tar archive there.
fn is_legacy_torch(head: &[u8]) -> bool {
    const MAGIC: [u8; 12] = [0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
    head.first() == Some(&0x80) && head.get(2..14) == Some(&MAGIC)
}

/// A protocol buffer whose first field is a small version number, then the producer's name or the next fields of a model.
fn is_onnx(head: &[u8]) -> bool {
    let [0x08, 1..=32, tag, rest @ ..] = head else { return false };
    match (*tag, rest) {
        // The producer's name.
        (0x12, [len, text @ ..]) => {
            let text = text.get(..usize::from(*len)).unwrap_or_default();
            !text.is_empty() && text.iter().all(|byte| matches!(byte, b' '..=b'~'))
        }
        // A graph, whose first node has an input: both are length-delimited.
        (0x3a, _) => rest.iter().take(6).any(|byte| *byte == 0x0a),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Option<&'static str> {
        named(&bytes[..bytes.len().min(512)], bytes.len() as u64).map(|kind| kind.code)
    }

    #[test]
    fn files_are_named_by_their_first_bytes() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        assert_eq!(code(pointer), Some("git_lfs_pointer"));
        assert_eq!(code(&[&pointer[..], &[b' '; 2000]].concat()), None, "a text about pointers is longer");
        assert_eq!(code(b"\n <!DOCTYPE html><html>"), Some("html_page"));
        assert_eq!(code(b"<HTML>"), Some("html_page"));
        assert_eq!(code(b"<?xml version=\"1.0\"?><Error>"), Some("xml_page"));
        assert_eq!(code(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."), Some("legacy_torch"));
        assert_eq!(code(b"\x80\x04\x95\x10\0\0\0\0\0\0\0}"), Some("pickle"));
        assert_eq!(code(b"\x08\x07\x12\x07pytorch\x1a\x05"), Some("onnx"));
        assert_eq!(code(b"\x89HDF\r\n\x1a\n"), Some("hdf5"));
        assert_eq!(code(b"PK\x03\x04"), Some("zip_archive"));
        assert_eq!(code(b"\x1f\x8b\x08\0"), Some("compressed_file"));
        for unknown in [&b""[..], b"\x80", b"\x08\x01", b"\x90\x71\x01\x02", b"version 1", b"TENSOGRM"] {
            assert_eq!(code(unknown), None, "{unknown:?}");
        }
    }
}
