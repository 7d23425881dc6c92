//! Names of the schema as names that a language accepts: case rules and words that are taken.

use std::collections::BTreeMap;

/// The words of a name, in lower case: split at `_`, `-`, `.`, from lower to upper case, and in front of the last capital
/// of a run (`ADCCommand` is `adc`, `command`). A capital behind a digit, and a run with one small letter behind it, stay
/// together: `FIX_2D` is `fix`, `2d` and `IPv4` is `ipv4`, so that names in capitals keep the schema's spelling.
pub(crate) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        if matches!(letter, '_' | '-' | '.') {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before]);
        let small = |ahead: usize| letters.get(at + ahead).is_some_and(|letter| letter.is_lowercase());
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_ascii_digit() && small(1))
                    || (before.is_uppercase() && small(1) && small(2))
            });
        if begins {
            words.push(String::new());
        }
        words.last_mut().expect("there is always a word").extend(letter.to_lowercase());
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `ThisCase`.
pub(crate) fn pascal(name: &str) -> String {
    words(name).iter().map(|word| capitalised(word)).collect()
}

/// `thisCase`.
pub(crate) fn camel(name: &str) -> String {
    let words = words(name);
    words.iter().enumerate().map(|(at, word)| if at == 0 { word.clone() } else { capitalised(word) }).collect()
}

/// `this_case`.
pub(crate) fn snake(name: &str) -> String {
    words(name).join("_")
}

/// `THIS_CASE`.
pub(crate) fn upper_snake(name: &str) -> String {
    snake(name).to_uppercase()
}

/// The first letter in upper case, digits in front of it passed over: `2d` is `2D`.
fn capitalised(word: &str) -> String {
    let digits = word.len() - word.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (front, rest) = word.split_at(digits);
    let mut letters = rest.chars();
    let rest: String = letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    front.to_owned() + &rest
}

/// The words that a language or our runtime there has taken, and what is put behind a name that meets one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Tables of words of the language, and of names that the runtime or generated members use in the same place.
    pub(crate) words: &'static [&'static [&'static str]],
    /// What makes a name free, usually `_`.
    pub(crate) suffix: &'static str,
}

impl Taken {
    /// The name, free of taken words and digits in front.
    pub(crate) fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        if name.chars().next().is_none_or(|first| first.is_ascii_digit()) {
            name.insert(0, '_');
        }
        while self.words.iter().any(|table| table.contains(&name.as_str())) {
            name.push_str(self.suffix);
        }
        name
    }
}

/// Names of one scope, each given once: two that fall together after a change of case get different ends.
#[derive(Debug)]
pub(crate) struct Scope {
    taken: Taken,
    used: BTreeMap<String, ()>,
}

impl Scope {
    pub(crate) const fn new(taken: Taken) -> Self {
        Self { taken, used: BTreeMap::new() }
    }

    /// A name nobody else has in this scope.
    pub(crate) fn claim(&mut self, name: &str) -> String {
        let mut name = self.taken.free(name);
        while self.used.contains_key(&name) {
            name = self.taken.free(&(name + self.taken.suffix));
        }
        self.used.insert(name.clone(), ());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_style() {
        let cases = [
            ("ADCCommand", "adc command"),
            ("HTTPServer2Go", "http server2 go"),
            ("motor_RPM", "motor rpm"),
            ("lowerCamel", "lower camel"),
            ("UPPER_SNAKE", "upper snake"),
            ("__odd__", "odd"),
            ("X", "x"),
            ("FIX_2D", "fix 2d"),
            ("H264", "h264"),
            ("IPv4", "ipv4"),
            ("X2Y", "x2y"),
            ("MODE_3X3", "mode 3x3"),
            ("Gps2D", "gps2d"),
            ("lat_e7", "lat e7"),
        ];
        for (name, expected) in cases {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
        let spelled = |name: &str| upper_snake(name);
        assert_eq!(
            ["FIX_2D", "IPv4", "X2Y", "MODE_3X3", "H264"].map(spelled),
            ["FIX_2D", "IPV4", "X2Y", "MODE_3X3", "H264"]
        );
        assert_eq!((pascal("FIX_2D"), pascal("MODE_3X3")), ("Fix2D".to_owned(), "Mode3X3".to_owned()));
        assert_eq!((pascal("motor_rpm"), camel("motor_rpm")), ("MotorRpm".to_owned(), "motorRpm".to_owned()));
        assert_eq!((snake("MotorRPM"), upper_snake("MotorRPM")), ("motor_rpm".to_owned(), "MOTOR_RPM".to_owned()));
    }

    #[test]
    fn taken_words_are_avoided() {
        let taken = Taken { words: &[&["class", "class_"], &["data"]], suffix: "_" };
        assert_eq!([taken.free("class"), taken.free("data"), taken.free("7up")], ["class__", "data_", "_7up"]);
        let mut scope = Scope::new(taken);
        assert_eq!([scope.claim("a"), scope.claim("a"), scope.claim("a_")], ["a", "a_", "a__"]);
    }
}
