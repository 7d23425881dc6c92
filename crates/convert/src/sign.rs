//! Signatures of manifests with Ed25519 keys (BT-10.8). Key files are those of OpenSSL: PEM, PKCS #8 for signing keys and
//! SubjectPublicKeyInfo for public ones, so `openssl genpkey -algorithm ed25519` makes keys for fw and `openssl pkeyutl` verifies what
//! fw signed.

use crate::ConvertError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A key to sign with. Its bytes are overwritten when it is dropped.
///
/// ```
/// use fw_convert::SigningKey;
///
/// let key = SigningKey::generate()?;
/// let signature = key.sign("sha256:00");
/// key.public().verify("sha256:00", &signature)?;
/// assert_eq!(key.public().verify("sha256:01", &signature).unwrap_err().code(), "signature_mismatch");
/// assert_eq!(SigningKey::from_pem(&key.to_pem())?.public(), key.public());
/// # Ok::<(), fw_convert::ConvertError>(())
/// ```
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A key to verify with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SigningKey {
    /// A new key, from the random numbers of the system.
    ///
    /// # Errors
    /// When the system has none.
    pub fn generate() -> Result<Self, ConvertError> {
        let mut seed = Zeroizing::new([0u8; 32]);
        getrandom::fill(&mut *seed).map_err(|error| ConvertError::Io(std::io::Error::other(error.to_string())))?;
        Ok(Self(ed25519_dalek::SigningKey::from_bytes(&seed)))
    }

    /// Reads a key file. One that other users may read is refused.
    ///
    /// # Errors
    /// When it cannot be read; `key_permissions`, `invalid_key`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConvertError> {
        let path = path.as_ref();
        let file = opened(path)?;
        #[cfg(unix)]
        let mode = {
            use std::os::unix::fs::PermissionsExt;
            file.metadata().map_err(|error| of_file(path, error))?.permissions().mode() & 0o777
        };
        let key = Self::from_pem(&text_of(path, file)?).map_err(|error| error.in_file(path))?;
        #[cfg(unix)]
        if mode & 0o077 != 0 {
            let message = format!(
                "{}: other users may use this signing key (permissions {mode:03o}); run chmod 600 on it",
                path.display()
            );
            return Err(ConvertError::unsupported("key_permissions", message));
        }
        Ok(key)
    }

    /// A key as PEM text: PKCS #8, version 1 or 2.
    ///
    /// # Errors
    /// `invalid_key`.
    pub fn from_pem(text: &str) -> Result<Self, ConvertError> {
        let bytes = Zeroizing::new(unwrapped(text, PRIVATE_LABEL)?);
        let seed = match &bytes[..] {
            bytes if bytes.len() == 48 => bytes.strip_prefix(&PKCS8_V1),
            // Version 2 has the public key after the seed.
            bytes => bytes.strip_prefix(&PKCS8_V2).filter(|rest| rest.len() == 32 + 35),
        };
        let seed = seed.and_then(|rest| rest.first_chunk::<32>()).ok_or_else(|| wrong("not an Ed25519 signing key"))?;
        Ok(Self(ed25519_dalek::SigningKey::from_bytes(seed)))
    }

    /// The key as PEM text: PKCS #8, version 1.
    pub fn to_pem(&self) -> Zeroizing<String> {
        let bytes = Zeroizing::new([&PKCS8_V1[..], self.0.as_bytes()].concat());
        Zeroizing::new(wrapped(PRIVATE_LABEL, &bytes))
    }

    /// Writes the key to a new file that only its owner may read, and its public key to a new file `<path>.pub`, whose path is
    /// returned.
    ///
    /// # Errors
    /// When a file exists already, or cannot be written.
    pub fn write_new(&self, path: impl AsRef<Path>) -> Result<PathBuf, ConvertError> {
        let path = path.as_ref();
        let public = PathBuf::from(format!("{}.pub", path.display()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let write = |path: &Path, options: &OpenOptions, text: &str| {
            let mut file = options.open(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        // The public file first: a signing key is never left without it.
        write(&public, &options, &self.public().to_pem()).map_err(|error| of_file(&public, error))?;
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        if let Err(error) = write(path, &options, &self.to_pem()) {
            // What was written just now, and is of no use.
            let _ = std::fs::remove_file(&public);
            return Err(of_file(path, error));
        }
        Ok(public)
    }

    /// The key to verify with.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of a manifest, by its digest, as `bt.signature` keeps it.
    pub fn sign(&self, manifest: &str) -> String {
        let signature = self.0.sign(&message(manifest));
        format!("ed25519:{}:{}", self.public(), hex(&signature.to_bytes()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(of {})", self.public())
    }
}

impl PublicKey {
    /// Reads a key file.
    ///
    /// # Errors
    /// When it cannot be read; `invalid_key`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConvertError> {
        let path = path.as_ref();
        Self::from_pem(&text_of(path, opened(path)?)?).map_err(|error| error.in_file(path))
    }

    /// A key as PEM text: SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// `invalid_key`.
    pub fn from_pem(text: &str) -> Result<Self, ConvertError> {
        let bytes = unwrapped(text, PUBLIC_LABEL)?;
        let key = bytes.strip_prefix(&SPKI).and_then(|rest| <[u8; 32]>::try_from(rest).ok());
        let key = key.ok_or_else(|| wrong("not an Ed25519 public key"))?;
        VerifyingKey::from_bytes(&key).map(Self).map_err(|_| wrong("not a point of the curve"))
    }

    /// The key as PEM text.
    pub fn to_pem(&self) -> String {
        wrapped(PUBLIC_LABEL, &[&SPKI[..], self.0.as_bytes()].concat())
    }

    /// Compares a signature, as `bt.signature` keeps it, with the digest of a manifest. The key that the signature names is not
    /// trusted: it tells only who claims to have signed.
    ///
    /// # Errors
    /// `signature_mismatch`; `invalid_signature` for a text that is no signature.
    pub fn verify(&self, manifest: &str, signature: &str) -> Result<(), ConvertError> {
        let wrong = || {
            let message = format!(
                "the signature {signature:?} is not in the form ed25519:<key>:<signature> of hexadecimal digits"
            );
            ConvertError::format("invalid_signature", message, None)
        };
        let (key, digits) =
            signature.strip_prefix("ed25519:").and_then(|rest| rest.split_once(':')).ok_or_else(wrong)?;
        let bytes = unhex(digits).and_then(|bytes| <[u8; 64]>::try_from(bytes).ok()).ok_or_else(wrong)?;
        if !key.eq_ignore_ascii_case(&self.to_string()) {
            let message = format!("the signature is of another key: it names {key}, expected {self}");
            return Err(ConvertError::format("signature_mismatch", message, None));
        }
        self.0.verify_strict(&message(manifest), &Signature::from_bytes(&bytes)).map_err(|_| {
            let message = format!("the signature is not one of the manifest {manifest} by the key {self}");
            ConvertError::format("signature_mismatch", message, None)
        })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0.as_bytes()))
    }
}

/// What is signed (BT-10.8): a line that says what this is, and the digest of the manifest on a line.
fn message(manifest: &str) -> Vec<u8> {
    format!("bt.signature 1\n{}\n", manifest.to_ascii_lowercase()).into_bytes()
}

fn of_file(path: &Path, error: std::io::Error) -> ConvertError {
    ConvertError::Io(error).in_file(path)
}

fn opened(path: &Path) -> Result<File, ConvertError> {
    File::open(path).map_err(|error| of_file(path, error))
}

/// Key files are short; what is not is something else.
fn text_of(path: &Path, file: File) -> Result<Zeroizing<String>, ConvertError> {
    let mut text = Zeroizing::new(String::with_capacity(MAX_KEY_FILE as usize));
    match file.take(MAX_KEY_FILE).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Err(wrong("not PEM text").in_file(path)),
        Err(error) => Err(of_file(path, error)),
    }
}

fn wrong(why: &str) -> ConvertError {
    let message = format!("{why}: expected PEM text as openssl genpkey -algorithm ed25519 writes it");
    ConvertError::format("invalid_key", message, None)
}

/// The bytes between the lines that PEM text begins and ends with.
fn unwrapped(text: &str, label: &str) -> Result<Vec<u8>, ConvertError> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let body = text.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end)).map(|(body, _)| body);
    let body = body.ok_or_else(|| wrong(&format!("no {begin}")))?;
    let letters = Zeroizing::new(body.split_ascii_whitespace().collect::<String>());
    STANDARD.decode(letters.as_bytes()).map_err(|_| wrong("not base64"))
}

fn wrapped(label: &str, bytes: &[u8]) -> String {
    let body = Zeroizing::new(STANDARD.encode(bytes));
    // Both kinds of keys fit on a line.
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", body.as_str())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs.remainder().is_empty().then(|| digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

const PRIVATE_LABEL: &str = "PRIVATE KEY";
const PUBLIC_LABEL: &str = "PUBLIC KEY";
/// What stands before the seed (RFC 8410).
const PKCS8_V1: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
const PKCS8_V2: [u8; 16] =
    [0x30, 0x51, 0x02, 0x01, 0x01, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// What stands before a public key.
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// Bytes of a key file that are looked at.
const MAX_KEY_FILE: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 8410, section 10.
    const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn key_files_are_those_of_the_standard() {
        let key = SigningKey::from_pem(PRIVATE).unwrap();
        assert_eq!((key.to_pem().as_str(), key.public().to_pem().as_str()), (PRIVATE, PUBLIC));
        assert_eq!(PublicKey::from_pem(PUBLIC).unwrap(), key.public());
        assert!(!format!("{key:?}").contains("d4ee72db"), "the seed is not shown");
        let v2 = [&PKCS8_V2[..], key.0.as_bytes(), &[0x81, 0x21, 0x00], key.public().0.as_bytes()].concat();
        assert_eq!(SigningKey::from_pem(&wrapped(PRIVATE_LABEL, &v2)).unwrap().public(), key.public());
        for bad in
            ["", PUBLIC, "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----", &PRIVATE.replace("MC4C", "MC4D")]
        {
            assert_eq!(SigningKey::from_pem(bad).unwrap_err().code(), "invalid_key", "{bad}");
        }
        assert_eq!(PublicKey::from_pem(PRIVATE).unwrap_err().code(), "invalid_key");
    }

    #[test]
    fn signatures_are_of_one_key_and_one_manifest() {
        let (key, other) = (SigningKey::from_pem(PRIVATE).unwrap(), SigningKey::generate().unwrap());
        let signature = key.sign("sha256:ab");
        assert_eq!(signature, key.sign("sha256:AB"), "one key makes one signature of a manifest");
        key.public().verify("sha256:ab", &signature).unwrap();
        let code =
            |key: &SigningKey, manifest: &str, text: &str| key.public().verify(manifest, text).unwrap_err().code();
        assert_eq!(code(&key, "sha256:ac", &signature), "signature_mismatch");
        assert_eq!(code(&other, "sha256:ab", &signature), "signature_mismatch");
        // Whoever renames the key in a signature has not signed with it.
        let renamed = signature.replace(&key.public().to_string(), &other.public().to_string());
        assert_eq!(code(&other, "sha256:ab", &renamed), "signature_mismatch");
        let flipped =
            format!("{}{}", &signature[..signature.len() - 1], if signature.ends_with('0') { '1' } else { '0' });
        assert_eq!(code(&key, "sha256:ab", &flipped), "signature_mismatch");
        for text in ["", "ed25519:", "ed25519:00:11", "rsa:00:11"] {
            assert_eq!(code(&key, "sha256:ab", text), "invalid_signature", "{text}");
        }
    }

    #[test]
    fn key_files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("release.key");
        let key = SigningKey::generate().unwrap();
        let public = key.write_new(&path).unwrap();
        assert_eq!(public, folder.path().join("release.key.pub"));
        assert_eq!(PublicKey::read(&public).unwrap(), SigningKey::read(&path).unwrap().public());
        assert_eq!(key.write_new(&path).unwrap_err().io().unwrap().kind(), std::io::ErrorKind::AlreadyExists);
        assert!(public.exists(), "a key that is there keeps its public file");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            assert_eq!(SigningKey::read(&path).unwrap_err().code(), "key_permissions");
        }
        std::fs::write(folder.path().join("x"), [0xff; 10]).unwrap();
        assert_eq!(PublicKey::read(folder.path().join("x")).unwrap_err().code(), "invalid_key");
    }
}
