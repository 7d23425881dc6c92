//! Schemas that changed a little, as people change them: lines are edited, then numbers are put in order again.

use fw_schema::testing::Entropy;

/// In some schemas every message gets the same seeds, so that payloads tell and not only checksums.
pub(crate) fn seeded(text: &str, entropy: &mut Entropy<'_>) -> String {
    if entropy.below(3) == 0 {
        return text.to_owned();
    }
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.contains("magic_bytes")) {
        lines.push(line.to_owned());
        if line.starts_with("message ") {
            lines.push("  option magic_bytes = \"7, 0x0b\";".to_owned());
        }
    }
    lines.join("\n")
}

/// One to three changes.
pub(crate) fn mutated(text: &str, entropy: &mut Entropy<'_>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=entropy.below(3) {
        change(&mut lines, entropy);
    }
    numbered(&lines).join("\n")
}

fn change(lines: &mut Vec<String>, entropy: &mut Entropy<'_>) {
    let fields = places(lines, is_field);
    let members = places(lines, is_member);
    let enums = places(lines, |line| line.trim_start().starts_with("enum "));
    let messages = places(lines, |line| line.starts_with("message "));
    let pick = |from: &[usize], entropy: &mut Entropy<'_>| from.get(entropy.below(from.len())).copied();
    let fresh = format!("new{}", entropy.byte());
    match entropy.below(16) {
        0 | 1 => {
            let Some(at) = pick(&fields, entropy) else { return };
            if fields.contains(&(at + 1)) {
                swap_names(lines, at);
            }
        }
        2 => {
            let Some(at) = pick(&fields, entropy) else { return };
            rename(lines, at, &fresh);
        }
        3 => {
            let Some(at) = pick(&fields, entropy) else { return };
            if let Some((_, rest)) = lines[at].trim().split_once(' ').filter(|(ty, _)| SCALARS.contains(ty)) {
                lines[at] = format!("  {} {rest}", SCALARS[entropy.below(SCALARS.len())]);
            }
        }
        4 | 5 => {
            // An extension at the end of a message, or a base field.
            let Some(at) = pick(&messages, entropy) else { return };
            let end = (at..lines.len()).find(|at| lines[*at] == "}").unwrap_or(lines.len() - 1);
            let marked = lines[at..end].iter().any(|line| line.starts_with("  option extensions_start"));
            let unions = lines[at..end].iter().any(|line| line.starts_with("  oneof"));
            let default = if entropy.chance(2) { " [default=5]" } else { "" };
            let field = format!("  {} {fresh} = 0{default};", SCALARS[entropy.below(6)]);
            lines.insert(end, field);
            if !marked && !unions && !entropy.chance(4) {
                lines.insert(end, "  option extensions_start = 0;".to_owned());
            }
        }
        6 => {
            let Some(at) = pick(&fields, entropy) else { return };
            lines.remove(at);
        }
        7 => {
            let Some(at) = pick(&fields, entropy) else { return };
            lines.insert(at, format!("  {} {fresh} = 0;", SCALARS[entropy.below(SCALARS.len())]));
        }
        8 | 9 => {
            let Some(at) = pick(&enums, entropy) else { return };
            enumeration(&mut lines[at], entropy);
        }
        10 => {
            let Some(at) = pick(&members, entropy) else { return };
            if members.contains(&(at + 1)) {
                swap_names(lines, at);
            }
        }
        11 => {
            let Some(at) = pick(&members, entropy) else { return };
            match entropy.below(3) {
                0 => rename(lines, at, &fresh),
                1 => drop(lines.remove(at)),
                _ => {
                    let end = (at..lines.len()).find(|at| lines[*at] == "  }").unwrap_or(at);
                    lines.insert(end, format!("    {} {fresh} = 0;", SCALARS[entropy.below(SCALARS.len())]));
                    if entropy.chance(2) {
                        lines.insert(end, "    option extensions_start = 0;".to_owned());
                    }
                }
            }
        }
        12 => {
            let Some(at) = pick(&messages, entropy) else { return };
            match lines
                .get(at + 1..)
                .unwrap_or_default()
                .iter()
                .take(3)
                .position(|line| line.contains("option variable"))
            {
                Some(found) => drop(lines.remove(at + 1 + found)),
                None => lines.insert(at + 1, "  option variable = true;".to_owned()),
            }
        }
        13 => {
            // Another bound.
            let bounds = places(lines, |line| line.contains("size="));
            let Some(at) = pick(&bounds, entropy) else { return };
            let line = lines[at].clone();
            let Some((front, rest)) = line.split_once("size=") else { return };
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let bound: usize = rest[..digits].parse().unwrap_or(1);
            lines[at] = format!("{front}size={}{}", bound + 1 + entropy.below(3), &rest[digits..]);
        }
        14 => {
            // Another enum, or another message, in the place of one.
            let Some(at) = pick(&fields, entropy) else { return };
            let names: Vec<String> = lines
                .iter()
                .filter(|line| line.starts_with("enum ") || line.starts_with("message "))
                .filter_map(|line| line.split(' ').nth(1).map(str::to_owned))
                .collect();
            let plain = lines[at].trim().split_once(' ').filter(|(ty, _)| names.iter().any(|name| name == ty));
            if let Some((_, rest)) = plain {
                lines[at] = format!("  {} {rest}", names[entropy.below(names.len())]);
            }
        }
        _ => {
            let Some(at) = pick(&fields, entropy) else { return };
            if fields.contains(&(at + 1)) {
                lines.swap(at, at + 1);
            }
        }
    }
}

fn enumeration(line: &mut String, entropy: &mut Entropy<'_>) {
    let swapped = line.replace("V0 ", "VX ").replace("V1 ", "V0 ").replace("VX ", "V1 ");
    *line = match entropy.below(5) {
        0 => swapped,
        1 => line.replace("V1 ", "Renamed "),
        2 => line.replace("V1 = ", "V1 = 1"),
        3 => line.replace(" }", " Added = 250; }"),
        _ => match line.rfind("; V") {
            Some(last) => format!("{}; }}", &line[..last]),
            None => line.clone(),
        },
    };
}

fn is_field(line: &str) -> bool {
    let words = ["option ", "oneof ", "enum ", "}", "//"];
    line.starts_with("  ") && !line.starts_with("   ") && !words.iter().any(|word| line[2..].starts_with(word))
}

fn is_member(line: &str) -> bool {
    line.starts_with("    ") && !line[4..].starts_with("option ") && !line[4..].starts_with("//")
}

fn places(lines: &[String], is: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..lines.len()).filter(|at| is(&lines[*at])).collect()
}

/// The word in front of ` = `.
fn name_span(line: &str) -> (usize, usize) {
    let end = line.find(" = ").unwrap_or(line.len());
    (line[..end].rfind(' ').map_or(0, |blank| blank + 1), end)
}

fn rename(lines: &mut [String], at: usize, name: &str) {
    let (begin, end) = name_span(&lines[at]);
    lines[at].replace_range(begin..end, name);
}

fn swap_names(lines: &mut [String], at: usize) {
    let name = |line: &str| line[name_span(line).0..name_span(line).1].to_owned();
    let (first, second) = (name(&lines[at]), name(&lines[at + 1]));
    rename(lines, at, &second);
    rename(lines, at + 1, &first);
}

/// Numbers in order; `extensions_start` is the number of what follows it, the first one of a message or oneof counts.
fn numbered(lines: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut field, mut member) = (0, 0);
    let (mut field_marked, mut member_marked) = (false, false);
    for (at, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        let followed = |is: fn(&str) -> bool, end: &str| {
            lines[at + 1..].iter().take_while(|line| *line != end).any(|line| is(line))
        };
        if line.starts_with("message ") {
            (field, field_marked) = (0, false);
        } else if line.starts_with("  oneof ") {
            (member, member_marked) = (0, false);
        } else if is_field(&line) || is_member(&line) {
            let count = if is_member(&line) { &mut member } else { &mut field };
            *count += 1;
            let begin = line.find(" = ").map_or(line.len(), |at| at + 3);
            let end = line[begin..].find([';', ' ']).map_or(line.len(), |len| begin + len);
            line.replace_range(begin..end, &count.to_string());
        } else if line.starts_with("    ") && (line.contains("extensions_start") || line.contains("Extension::")) {
            if member_marked || !followed(is_member, "  }") {
                continue;
            }
            member_marked = true;
            if line.contains("extensions_start") {
                line = format!("    option extensions_start = {};", member + 1);
            }
        } else if line.contains("extensions_start") {
            if field_marked || !followed(is_field, "}") {
                continue;
            }
            field_marked = true;
            line = format!("  option extensions_start = {};", field + 1);
        }
        out.push(line);
    }
    out
}

const SCALARS: [&str; 11] =
    ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float", "double", "bool"];
