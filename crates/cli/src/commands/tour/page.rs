//! The page that a tour leaves: every step with its command and what it printed, pictures and files. It needs nothing from
//! elsewhere, and everything in it is escaped.

use super::Step;
use std::fmt::Write;

/// The whole page. `pictures` are SVG files by name.
pub(super) fn html(steps: &[Step], pictures: &[(&str, String)], files: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (number, step) in steps.iter().enumerate() {
        let _ = write!(body, "<section><h2>{}. {}</h2>\n<pre><b>$ ", number + 1, escaped(step.title));
        let _ = write!(body, "{}</b>\n{}</pre>\n", escaped(&step.command), escaped(&step.output));
        for (name, svg) in pictures.iter().filter(|(name, _)| step.command.contains(name)) {
            let _ = writeln!(body, "<img alt=\"{}\" src=\"data:image/svg+xml,{}\">", escaped(name), percent(svg));
        }
        body.push_str("</section>\n");
    }
    let mut list = String::new();
    for (name, what) in files {
        let _ = writeln!(list, "<dt><a href=\"{0}\">{0}</a></dt><dd>{1}</dd>", escaped(name), escaped(what));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>A tour of fw</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>A tour of \
         fw</h1>\n<p>Every step was run by <code>fw tour</code> on made-up data. The files are beside this page; run the \
         commands again in the directory above it.</p>\n{body}<section><h2>The files</h2>\n<dl>\n{list}</dl></section>\n\
         </body>\n</html>\n"
    )
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;\
background:#fff}pre{background:#f4f4f1;padding:1em;overflow-x:auto;font-size:13px;line-height:1.35}img{max-width:100%}\
h2{font-size:1.1em;margin-top:2em}dt{font-family:monospace}dd{margin:0 0 .5em 2em}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}a{color:#8bf}}";

/// Text in a page.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Text in a `data:` address.
fn percent(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b' '
            | b'/'
            | b':'
            | b'='
            | b';'
            | b',' => {
                safe.push(char::from(byte));
            }
            _ => {
                let _ = write!(safe, "%{byte:02X}");
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_page_is_markup_of_a_file() {
        let step = Step { title: "a <b>", command: "fw plot x.svg".into(), output: "<script>'\"&".into(), code: 0 };
        let page = html(&[step], &[("x.svg", "<svg a=\"'#%\">\n</svg>".into())], &[("<i>", "&")]);
        assert!(!page.contains("<script") && !page.contains("<i>") && !page.contains("<svg"), "{page}");
        assert!(page.contains("a &lt;b&gt;") && page.contains("&lt;script&gt;&#39;&quot;&amp;"), "{page}");
        assert!(page.contains("data:image/svg+xml,%3Csvg a=%22%27%23%25%22%3E%0A%3C/svg%3E"), "{page}");
    }
}
