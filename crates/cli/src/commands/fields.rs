//! Statistics of fields, as `fw info`, `fw decode` and `fw convert` show them.

use crate::render::{Table, count, size};
use framewright::convert::{FieldKind, FieldSummary, MessageFields};
use framewright::stats::Scalar;
use serde_json::{Value as Json, json};

/// What there is to say about fields, one line each.
pub(super) fn text(fields: &[MessageFields]) -> String {
    let mut text = String::new();
    for message in fields {
        let mut table =
            Table::new(&["field", ">values", ">minimum", ">maximum", ">mean", ">standard deviation", "counts"]);
        for field in &message.fields {
            let mut cells = vec![field.path.clone(), field.count.to_string()];
            cells.extend(match &field.kind {
                FieldKind::Number(summary) => {
                    let scalar = |value: Option<Scalar>| value.map_or("-".to_owned(), |value| value.to_string());
                    let float = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.6}"));
                    let odd = [("NaN", summary.nan), ("inf", summary.pos_inf), ("-inf", summary.neg_inf)];
                    let odd = odd.iter().filter(|(_, count)| *count > 0);
                    let odd: Vec<_> = odd.map(|(name, count)| format!("{name} {count}")).collect();
                    [scalar(summary.min), scalar(summary.max), float(summary.mean), float(summary.std), odd.join(", ")]
                }
                FieldKind::Counts(counts) => {
                    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
                    ["-".to_owned(), "-".to_owned(), "-".to_owned(), "-".to_owned(), counts.join(", ")]
                }
                FieldKind::Length { min, max } => {
                    let bytes = |len: &Option<u64>| len.map_or("-".to_owned(), size);
                    [bytes(min), bytes(max), "-".to_owned(), "-".to_owned(), String::new()]
                }
                _ => Default::default(),
            });
            table.row(cells);
        }
        text.push_str(&format!(
            "\n{} (id {}), {}\n",
            message.message,
            message.id,
            count(message.rows as usize, "frame")
        ));
        text.push_str(&table.render());
    }
    text
}

/// The same as JSON.
pub(super) fn json(fields: &[MessageFields]) -> Json {
    let scalar = |value: Option<Scalar>| match value {
        None => Json::Null,
        Some(Scalar::Integer(value)) => {
            i64::try_from(value).map(Json::from).unwrap_or_else(|_| value.to_string().into())
        }
        Some(Scalar::Float(value)) => value.into(),
    };
    let field = |field: &FieldSummary| {
        let mut json = json!({ "field": field.path, "values": field.count });
        match &field.kind {
            FieldKind::Number(summary) => {
                json["min"] = scalar(summary.min);
                json["max"] = scalar(summary.max);
                json["mean"] = summary.mean.into();
                json["std"] = summary.std.into();
                json["zeros"] = summary.zeros.into();
                json["nan"] = summary.nan.into();
                json["pos_inf"] = summary.pos_inf.into();
                json["neg_inf"] = summary.neg_inf.into();
            }
            FieldKind::Counts(counts) => json["counts"] = json!(counts),
            FieldKind::Length { min, max } => {
                json["min_bytes"] = (*min).into();
                json["max_bytes"] = (*max).into();
            }
            _ => {}
        }
        json
    };
    let messages = fields.iter().map(|message| {
        let fields: Vec<_> = message.fields.iter().map(field).collect();
        json!({ "id": message.id, "message": message.message, "frames": message.rows, "fields": fields })
    });
    messages.collect::<Vec<_>>().into()
}
