//! Random JSON, for tests.

/// A generator of random documents (xorshift64*), the same in every run.
pub(crate) struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal documents.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    /// One of several things.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn white(&mut self, out: &mut String) {
        if self.below(8) == 0 {
            for _ in 0..self.below(6) {
                out.push(self.one_of(&[' ', '\t', '\n', '\r', ' ']));
            }
        }
    }

    /// A value with up to `depth` levels inside, white space around it.
    pub(crate) fn value(&mut self, out: &mut String, depth: usize) {
        self.white(out);
        match self.below(if depth > 0 { 9 } else { 6 }) {
            0..3 => self.string(out),
            3 => out.push_str(self.one_of(&["true", "false", "null"])),
            4 => out.push_str(self.one_of(&["0", "-0.0", "1E400", "12.50e-3", "7"])),
            5 => {
                let digits = self.below(30);
                out.push('9');
                out.extend((0..digits).map(|_| char::from(b'0' + self.below(10) as u8)));
            }
            6 => self.list(out, "[]", |random, out| random.value(out, depth - 1)),
            _ => self.list(out, "{}", |random, out| {
                random.string(out);
                random.colon(out);
                random.value(out, depth - 1);
            }),
        }
        self.white(out);
    }

    fn list(&mut self, out: &mut String, brackets: &str, item: impl Fn(&mut Random, &mut String)) {
        out.push_str(&brackets[..1]);
        self.white(out);
        for index in 0..self.below(5) {
            if index > 0 {
                out.push(',');
            }
            self.white(out);
            item(self, out);
        }
        out.push_str(&brackets[1..]);
    }

    fn colon(&mut self, out: &mut String) {
        self.white(out);
        out.push(':');
        self.white(out);
    }

    /// A string.
    pub(crate) fn string(&mut self, out: &mut String) {
        out.push('"');
        // Long enough, now and then, to cross blocks of 64 bytes.
        let length = self.one_of(&[0, 1, 3, 8, 20, 70, 150]);
        for _ in 0..self.below(length + 1) {
            out.push_str(self.one_of(&[
                "a",
                "b",
                "x y",
                "{",
                "}",
                "[",
                "]",
                ":",
                ",",
                "é",
                "\u{2028}",
                "🎉",
                "\\\"",
                "\\\\",
                "\\\\\\\"",
                "\\\\\\\\",
                "\\n",
                "\\/",
                "\\u00e9",
                "\\ud83c\\udf89",
                "\\u0000",
                "\u{7f}",
            ]));
        }
        out.push('"');
    }

    /// A message with some of the members that the scanner looks for.
    pub(crate) fn message(&mut self) -> String {
        const KEYS: [&str; 12] = [
            "jsonrpc",
            "id",
            "method",
            "params",
            "result",
            "error",
            "result",
            "params",
            "i\\u0064",
            "\\u006dethod",
            "Id",
            "id ",
        ];
        let mut out = String::new();
        self.white(&mut out);
        self.list(&mut out, "{}", |random, out| {
            let key = random.one_of(&KEYS);
            out.push_str(&format!("\"{key}\""));
            random.colon(out);
            match random.below(3) {
                0 if key == "result" => random.list(out, "{}", |random, out| {
                    out.push_str(random.one_of(&[
                        "\"resultType\"",
                        "\"a\"",
                        "\"result\\u0054ype\"",
                    ]));
                    random.colon(out);
                    random.value(out, 2);
                }),
                _ => random.value(out, 4),
            }
        });
        out
    }

    /// Changes a few characters.
    pub(crate) fn damage(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(characters.len() + 1);
            let other =
                self.one_of(&['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '1', 'u', '\n', '\0']);
            match self.below(4) {
                0 => characters.insert(at, other),
                1 => characters.truncate(at),
                _ if at == characters.len() => (),
                2 => drop(characters.remove(at)),
                _ => characters[at] = other,
            }
        }
        characters.into_iter().collect()
    }
}
