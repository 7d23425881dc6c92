//! Text to clauses.

use super::clause::{Clause, Operator, Test};
use super::operand::{Alternative, Bound, Kind};
use crate::cursor::Cursor;
use crate::glob::{self, Token};
use crate::{Number, Path, QueryError};
use std::ops::Range;

/// One clause that fills the text.
pub(super) fn clause(text: &str) -> Result<Clause, QueryError> {
    let mut cursor = Cursor::new(text)?;
    Parser { cursor: &mut cursor, line: false, end: text.trim_end().len() }.clause(true)
}

/// Clauses with blanks between them.
pub(super) fn line(text: &str) -> Result<Vec<Clause>, QueryError> {
    let mut cursor = Cursor::new(text)?;
    let mut clauses = Vec::new();
    loop {
        cursor.skip_blanks();
        if cursor.peek().is_none() {
            return Ok(clauses);
        }
        clauses.push(Parser { cursor: &mut cursor, line: true, end: text.len() }.clause(clauses.is_empty())?);
    }
}

struct Parser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    /// A blank ends the clause.
    line: bool,
    /// Blanks from here on do not belong to the last value.
    end: usize,
}

/// One character or pattern of an alternative, and whether it was quoted.
struct Unit {
    token: Token,
    quoted: bool,
}

impl Parser<'_, '_> {
    fn clause(&mut self, first: bool) -> Result<Clause, QueryError> {
        self.cursor.skip_blanks();
        let start = self.cursor.at();
        let path = Path::read(self.cursor)?;
        let key_span = 0..self.cursor.at() - start;
        let operator = self.operator(start, first)?;
        self.cursor.skip_blanks();
        let value_start = self.cursor.at();
        let mut alternatives = vec![self.alternative()?];
        while self.cursor.eat("/") {
            alternatives.push(self.alternative()?);
        }
        let value = value_start..self.cursor.at();
        self.cursor.skip_blanks();
        let test = self.test(operator, alternatives, value.clone())?;
        let text = self.cursor.text()[start..value.end].trim_end().to_owned();
        Ok(Clause { path, operator, test, text, key_span })
    }

    fn operator(&mut self, start: usize, first: bool) -> Result<Operator, QueryError> {
        const MISTAKES: &[(&str, &str)] = &[
            ("==", "write = for equality, and quote a value that starts with ="),
            ("=<", "write <= for \"at most\""),
            ("=>", "write >= for \"at least\""),
            ("<>", "write != for \"different from\""),
        ];
        const OPERATORS: &[Operator] = &[
            Operator::NotEqual,
            Operator::LessOrEqual,
            Operator::GreaterOrEqual,
            Operator::Equal,
            Operator::Less,
            Operator::Greater,
        ];
        let key_end = self.cursor.at();
        self.cursor.skip_blanks();
        let at = self.cursor.at();
        if let Some((symbol, hint)) = MISTAKES.iter().find(|(symbol, _)| self.cursor.rest().starts_with(symbol)) {
            let message = format!("unknown operator \"{symbol}\"");
            return Err(self.cursor.error("unknown_operator", at..at + symbol.len(), message).with_hint(*hint));
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| self.cursor.eat(operator.symbol())) {
            return Ok(*operator);
        }
        let rest = &self.cursor.text()[key_end..];
        let end = key_end + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &self.cursor.text()[start..end];
        let hint = if first {
            "a clause looks like mars.param=2t/10u or mars.step<=12"
        } else {
            "a clause looks like mars.step<=12; put a value that holds blanks in double quotes"
        };
        let message = format!("expected one of = != < <= > >= after {word:?}");
        Err(self.cursor.error("missing_operator", start..end, message).with_hint(hint))
    }

    /// Reads up to `/` or the end of the clause.
    fn alternative(&mut self) -> Result<Alternative, QueryError> {
        let start = self.cursor.at();
        let mut units = Vec::new();
        while let Some(c) = self.cursor.peek() {
            let at = self.cursor.at();
            match c {
                '/' => break,
                c if c.is_whitespace() && (self.line || at >= self.end) => break,
                ',' => self.refuse_second_clause(at)?,
                c if c.is_whitespace() => self.refuse_second_clause(at)?,
                '=' | '<' | '>' | '!' if self.line => {
                    return Err(self
                        .cursor
                        .error("unquoted_operator", at..at + 1, format!("unexpected {c:?} in the value"))
                        .with_hint("put a value that holds = < > or ! in double quotes"));
                }
                _ => {}
            }
            match c {
                '"' => {
                    let text = self.cursor.quoted()?;
                    units.extend(text.chars().map(|c| Unit { token: Token::Char(c), quoted: true }));
                    // Quotes without content still make the alternative a quoted one.
                    if text.is_empty() {
                        units.push(Unit { token: Token::AnyText, quoted: true });
                    }
                }
                '[' => {
                    let Some((token, len)) = glob::class(self.cursor.rest()) else {
                        return Err(self
                            .cursor
                            .error("unclosed_class", at..self.cursor.text().len(), "missing ] after [")
                            .with_hint("write [a-c] for one of several characters, or quote the value: \"[\""));
                    };
                    let end = at + len;
                    while self.cursor.at() < end {
                        self.cursor.next();
                    }
                    units.push(Unit { token, quoted: false });
                }
                c => {
                    self.cursor.next();
                    let token = match c {
                        '*' => Token::AnyText,
                        '?' => Token::AnyChar,
                        c => Token::Char(c),
                    };
                    units.push(Unit { token, quoted: false });
                }
            }
        }
        let end = self.cursor.at();
        let kind = self.kind(&units, start..end)?;
        let quoted = units.iter().any(|unit| unit.quoted);
        Ok(Alternative { written: self.cursor.text()[start..end].to_owned(), quoted, kind })
    }

    fn kind(&self, units: &[Unit], span: Range<usize>) -> Result<Kind, QueryError> {
        if units.iter().any(|unit| !unit.quoted && !matches!(unit.token, Token::Char(_))) {
            let tokens = units.iter().filter(|unit| !is_empty_quote(unit)).map(|unit| unit.token.clone());
            return Ok(Kind::Pattern(tokens.collect()));
        }
        let dots = units.windows(2).position(|pair| pair.iter().all(|u| !u.quoted && u.token == Token::Char('.')));
        if let Some(dots) = dots {
            return self.range(&units[..dots], &units[dots + 2..], span);
        }
        let text = text(units);
        Ok(match Number::parse(&text).filter(|_| !units.iter().any(|unit| unit.quoted)) {
            Some(number) => Kind::Number(number),
            None => Kind::Exact(text),
        })
    }

    fn range(&self, low: &[Unit], high: &[Unit], span: Range<usize>) -> Result<Kind, QueryError> {
        let bound = |units: &[Unit]| {
            (!units.is_empty()).then(|| Bound::parse(text(units), units.iter().any(|unit| unit.quoted)))
        };
        let (low, high) = (bound(low), bound(high));
        let forward = match (&low, &high) {
            (None, None) => {
                return Err(self
                    .cursor
                    .error("empty_range", span, "a range needs at least one end")
                    .with_hint("write 0..12, ..12 or 5..; quote the value if it is text: \"..\""));
            }
            (Some(Bound::Number(low)), Some(Bound::Number(high))) => low <= high,
            (Some(Bound::Text(low)), Some(Bound::Text(high))) => low <= high,
            (Some(_), Some(_)) => {
                return Err(self
                    .cursor
                    .error("mixed_range", span, "one end of the range is a number and the other is text")
                    .with_hint("write two numbers, or quote the whole value if it is text"));
            }
            _ => true,
        };
        if !forward {
            return Err(self
                .cursor
                .error("empty_range", span, "the range is empty: its first end is greater than its second")
                .with_hint("write the smaller end first"));
        }
        Ok(Kind::Range { low, high })
    }

    fn test(
        &self,
        operator: Operator,
        mut alternatives: Vec<Alternative>,
        span: Range<usize>,
    ) -> Result<Test, QueryError> {
        let symbol = operator.symbol();
        if span.is_empty() && (self.line || !matches!(operator, Operator::Equal | Operator::NotEqual)) {
            return Err(self
                .cursor
                .error("missing_value", span, format!("expected a value after {symbol}"))
                .with_hint("write \"\" for empty text"));
        }
        if matches!(operator, Operator::Equal | Operator::NotEqual) {
            return Ok(Test::Alternatives(alternatives));
        }
        let only = alternatives.pop().filter(|_| alternatives.is_empty());
        match only {
            Some(Alternative { kind: Kind::Number(number), .. }) => Ok(Test::Bound(Bound::Number(number))),
            Some(Alternative { kind: Kind::Exact(text), .. }) => Ok(Test::Bound(Bound::Text(text))),
            _ => Err(self
                .cursor
                .error(
                    "not_comparable",
                    span,
                    format!("{symbol} needs one number or text, not a list, pattern or range"),
                )
                .with_hint("use = for lists, patterns and ranges, or put the value in double quotes")),
        }
    }

    /// `a=1,b=2` and `a=1 b=2` would be one odd value; nobody means that.
    fn refuse_second_clause(&self, at: usize) -> Result<(), QueryError> {
        let mut ahead = self.cursor.clone();
        ahead.next();
        // Within a run of blanks only the last one decides, so that long runs take linear time.
        if self.cursor.peek() == Some(',') {
            ahead.skip_blanks();
        }
        if Path::read(&mut ahead).is_err() {
            return Ok(());
        }
        ahead.skip_blanks();
        if !["=", "!=", "<", ">"].iter().any(|symbol| ahead.eat(symbol)) {
            return Ok(());
        }
        let hint = if self.line {
            "put a blank between the clauses, or double quotes around the value"
        } else {
            "give each clause its own --where (-w), or put the value in double quotes"
        };
        Err(self.cursor.error("joined_clauses", at..at + 1, "two clauses in one").with_hint(hint))
    }
}

fn is_empty_quote(unit: &Unit) -> bool {
    unit.quoted && unit.token == Token::AnyText
}

fn text(units: &[Unit]) -> String {
    let chars = units.iter().filter_map(|unit| match unit.token {
        Token::Char(c) => Some(c),
        _ => None,
    });
    chars.collect()
}
