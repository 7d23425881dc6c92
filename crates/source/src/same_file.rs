//! Whether two names lead to one file.

use std::path::Path;

/// Whether both names lead to one file: the same path, a symbolic link to it, or a hard link.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let (a, b) = (folder.path().join("a"), folder.path().join("b"));
/// std::fs::write(&a, b"x")?;
/// std::fs::hard_link(&a, &b)?;
/// assert!(fw_source::same_file(&a, &b));
/// assert!(!fw_source::same_file(&a, &folder.path().join("c")));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn same_file(left: impl AsRef<Path>, right: impl AsRef<Path>) -> bool {
    let (left, right) = (left.as_ref(), right.as_ref());
    let (Ok(one), Ok(other)) = (std::fs::metadata(left), std::fs::metadata(right)) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        matches!((left.canonicalize(), right.canonicalize()), (Ok(left), Ok(right)) if left == right)
    }
}
