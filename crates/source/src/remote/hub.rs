//! `hf://` URLs: files of repositories on the Hugging Face Hub, by the addresses that it serves them from.

use url::Url;

/// Where a file of the hub is, and what opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HubFile {
    pub(super) url: Url,
    pub(super) token: Option<String>,
}

/// Understands `hf://[datasets/|spaces/]org/repo[@revision]/path`. Settings named `endpoint` and `token` win over the environment
/// (`HF_ENDPOINT`, `HF_TOKEN`).
pub(super) fn resolve(text: &str, settings: &[(String, String)]) -> Result<HubFile, String> {
    let setting = |name: &str| {
        let given = settings.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone());
        given
            .or_else(|| std::env::var(format!("HF_{}", name.to_ascii_uppercase())).ok())
            .filter(|value| !value.is_empty())
    };
    let endpoint = setting("endpoint").unwrap_or_else(|| ENDPOINT.to_owned());
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let path = resolved_path(rest).ok_or("must be hf://ORG/REPO@REVISION/FILE (without @REVISION: main)")?;
    let url = Url::parse(&format!("{}/{path}", endpoint.trim_end_matches('/')))
        .map_err(|error| format!("the endpoint {endpoint:?} is not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the endpoint {endpoint:?} must be an http or https URL"));
    }
    Ok(HubFile { url, token: setting("token") })
}

/// `org/repo/resolve/revision/file`.
fn resolved_path(rest: &str) -> Option<String> {
    let (kind, rest) = match rest.split_once('/') {
        Some((kind @ ("datasets" | "spaces"), rest)) => (format!("{kind}/"), rest),
        _ => (String::new(), rest),
    };
    let parts: Vec<&str> = rest.split('/').collect();
    // The oldest models have no organisation: gpt2/model.safetensors.
    let (org, name, file) = match &parts[..] {
        [name, file @ ..] if name.contains('@') || file.len() == 1 => (None, *name, file),
        [org, name, file @ ..] => (Some(*org), *name, file),
        _ => return None,
    };
    let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
    // Revisions of pull requests have slashes of their own.
    let (revision, file) = match (revision, file) {
        ("refs", [kind @ ("pr" | "convert"), which, file @ ..]) => (format!("refs%2F{kind}%2F{which}"), file),
        (revision, file) => (revision.to_owned(), file),
    };
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    if name.is_empty() || revision.is_empty() || file.is_empty() || !parts.iter().all(|part| plain(part)) {
        return None;
    }
    let repo = org.map_or_else(|| name.to_owned(), |org| format!("{org}/{name}"));
    Some(format!("{kind}{repo}/resolve/{revision}/{}", file.join("/")))
}

const ENDPOINT: &str = "https://huggingface.co";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files() {
        for (text, path) in [
            ("hf://org/repo@main/m.safetensors", "org/repo/resolve/main/m.safetensors"),
            ("hf://org/repo/sub/m.safetensors", "org/repo/resolve/main/sub/m.safetensors"),
            ("hf://gpt2/model.safetensors", "gpt2/resolve/main/model.safetensors"),
            ("hf://gpt2@v1/a/b.bin", "gpt2/resolve/v1/a/b.bin"),
            ("hf://datasets/org/repo@1a2b/x.npz", "datasets/org/repo/resolve/1a2b/x.npz"),
            ("hf://org/repo@refs/pr/7/m.bt", "org/repo/resolve/refs%2Fpr%2F7/m.bt"),
            ("hf://org/repo@refs%2Fpr%2F7/m.bt", "org/repo/resolve/refs%2Fpr%2F7/m.bt"),
        ] {
            let settings = [("endpoint".to_owned(), "https://hub.example/".to_owned())];
            let found = resolve(text, &settings).unwrap();
            assert_eq!(found.url.as_str(), format!("https://hub.example/{path}"), "{text}");
        }
        for wrong in [
            "hf://",
            "hf://org",
            "hf://org/repo@/x",
            "hf://org/@main/x",
            "hf://org/repo@main/",
            "hf://org/repo/../x",
            "hf://org//x",
        ] {
            assert!(resolve(wrong, &[]).is_err(), "{wrong}");
        }
        assert!(resolve("hf://org/repo/x", &[("endpoint".to_owned(), "ftp://host".to_owned())]).is_err());
    }
}
