//! The details of packets as `tshark -T pdml` writes them.

/// A field in the tree of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What filters call it.
    pub(crate) name: String,
    /// Its value for people.
    pub(crate) show: String,
    /// Its bytes, in hexadecimal digits.
    pub(crate) bytes: String,
    /// How deep in the tree.
    pub(crate) depth: usize,
}

/// The fields of every packet, in the order of the tree.
pub(crate) fn packets(text: &str) -> Vec<Vec<Shown>> {
    let mut packets = Vec::new();
    let mut depth = 0;
    // Text of a field may go over several lines; a `<` or `>` of its own is spelled otherwise.
    for tag in text.split('<').filter_map(|part| part.split('>').next()) {
        if tag == "packet" {
            packets.push(Vec::new());
        } else if tag == "/field" {
            depth -= 1;
        } else if tag.starts_with("field ") {
            let [name, show, bytes] = ["name", "show", "value"].map(|name| attribute(tag, name));
            packets.last_mut().expect("fields stand in packets").push(Shown { name, show, bytes, depth });
            depth += usize::from(!tag.ends_with('/'));
        }
    }
    packets
}

fn attribute(tag: &str, name: &str) -> String {
    let Some((_, rest)) = tag.split_once(&format!(" {name}=\"")) else { return String::new() };
    let value = rest.split('"').next().unwrap_or_default();
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#x27;", "'"), ("&amp;", "&")]
        .iter()
        .fold(value.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}
