//! Hadoop's file name patterns: `*`, `?`, `[abc]`, `[^a-c]`, `{a,b}`, `\x`. Source: `GlobPattern.java`, `GlobExpander.java`,
//! Hadoop 3.5.0.

/// A pattern for one component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// `*`
    Any,
    /// `?`
    One,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    Either(Vec<Vec<Token>>),
}

impl Pattern {
    /// `Ok(None)`: the text has no wildcard and stands for itself (see `unescape`).
    ///
    /// # Errors
    /// An unclosed group or class, an escape of nothing: what is wrong.
    pub fn parse(text: &str) -> Result<Option<Pattern>, String> {
        let chars: Vec<char> = text.chars().collect();
        let mut parser = Parser { chars: &chars, at: 0, has_wildcard: false };
        let tokens = parser.sequence(0)?;
        if parser.at < chars.len() {
            // A `}` or `,` without a group is itself: the parser takes those as literals, so this is out of reach.
            return Err(format!("Illegal file pattern: {text}"));
        }
        Ok(parser.has_wildcard.then_some(Pattern { tokens }))
    }

    pub fn matches(&self, name: &str) -> bool {
        let chars: Vec<char> = name.chars().collect();
        matches(&self.tokens, &chars, &|rest| rest.is_empty())
    }
}

/// A component without wildcards, its escapes taken off.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    has_wildcard: bool,
}

impl Parser<'_> {
    /// Tokens up to the end, or inside a group up to its `,` or `}`.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Token>, String> {
        let mut tokens = Vec::new();
        while let Some(&c) = self.chars.get(self.at) {
            match c {
                ',' | '}' if depth > 0 => return Ok(tokens),
                '\\' => {
                    self.at += 1;
                    match self.chars.get(self.at) {
                        Some(&escaped) => tokens.push(Token::Literal(escaped)),
                        None => return Err(self.wrong("Missing escaped character")),
                    }
                }
                '*' => tokens.push(self.wildcard(Token::Any)),
                '?' => tokens.push(self.wildcard(Token::One)),
                '[' => {
                    let class = self.class()?;
                    tokens.push(self.wildcard(class));
                }
                '{' => {
                    let group = self.group(depth)?;
                    tokens.push(self.wildcard(group));
                }
                c => tokens.push(Token::Literal(c)),
            }
            self.at += 1;
        }
        if depth > 0 { Err(self.wrong("Unclosed group")) } else { Ok(tokens) }
    }

    fn wildcard(&mut self, token: Token) -> Token {
        self.has_wildcard = true;
        token
    }

    fn wrong(&self, what: &str) -> String {
        let text: String = self.chars.iter().collect();
        format!("{what} near index {} {text}", self.at)
    }

    /// From `{` to its `}`, which is left to be stepped over.
    fn group(&mut self, depth: usize) -> Result<Token, String> {
        let mut choices = Vec::new();
        loop {
            self.at += 1;
            choices.push(self.sequence(depth + 1)?);
            if self.chars.get(self.at) == Some(&'}') {
                return Ok(Token::Either(choices));
            }
        }
    }

    fn class(&mut self) -> Result<Token, String> {
        self.at += 1;
        let negated = matches!(self.chars.get(self.at), Some('^' | '!'));
        if negated {
            self.at += 1;
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let c = match self.chars.get(self.at) {
                None => return Err(self.wrong("Unclosed character class")),
                Some(']') if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
                Some('\\') => {
                    self.at += 1;
                    *self.chars.get(self.at).ok_or_else(|| self.wrong("Missing escaped character"))?
                }
                Some(&c) => c,
            };
            let end = match self.chars.get(self.at + 1..self.at + 3) {
                Some(['-', end]) if *end != ']' => {
                    self.at += 2;
                    *end
                }
                _ => c,
            };
            ranges.push((c, end));
            self.at += 1;
        }
    }
}

fn matches(tokens: &[Token], name: &[char], rest_matches: &dyn Fn(&[char]) -> bool) -> bool {
    let Some((token, after)) = tokens.split_first() else { return rest_matches(name) };
    match token {
        Token::Any => (0..=name.len()).any(|skip| matches(after, &name[skip..], rest_matches)),
        Token::Either(choices) => {
            choices.iter().any(|choice| matches(choice, name, &|rest| matches(after, rest, rest_matches)))
        }
        one => match name.split_first() {
            Some((&c, rest)) => one_matches(one, c) && matches(after, rest, rest_matches),
            None => false,
        },
    }
}

fn one_matches(token: &Token, c: char) -> bool {
    match token {
        Token::Literal(literal) => *literal == c,
        Token::One => true,
        Token::Class { negated, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated,
        Token::Any | Token::Either(_) => false,
    }
}

/// Splits a pattern at groups that reach over a `/`, since components are matched one by one: `{a/b,c}/d` is `a/b/d` and `c/d`.
pub fn expand_slashes(pattern: &str) -> Vec<String> {
    match first_group_with_slash(pattern) {
        None => vec![pattern.to_string()],
        Some((start, end, commas)) => {
            let mut bounds = vec![start];
            bounds.extend(commas);
            bounds.push(end);
            let choices = bounds.windows(2).map(|pair| &pattern[pair[0] + 1..pair[1]]);
            choices
                .flat_map(|choice| expand_slashes(&format!("{}{choice}{}", &pattern[..start], &pattern[end + 1..])))
                .collect()
        }
    }
}

/// Where the first outermost group that holds a `/` begins and ends, and its own commas.
fn first_group_with_slash(pattern: &str) -> Option<(usize, usize, Vec<usize>)> {
    let (mut depth, mut start, mut commas, mut has_slash, mut escaped) = (0usize, 0, Vec::new(), false, false);
    for (i, c) in pattern.char_indices() {
        match c {
            _ if escaped => {
                escaped = false;
                continue;
            }
            '\\' => escaped = true,
            '{' => {
                if depth == 0 {
                    (start, has_slash) = (i, false);
                    commas.clear();
                }
                depth += 1;
            }
            ',' if depth == 1 => commas.push(i),
            '/' if depth > 0 => has_slash = true,
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 && has_slash {
                    return Some((start, i, commas));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, name: &str) -> bool {
        Pattern::parse(pattern).unwrap().unwrap().matches(name)
    }

    #[test]
    fn patterns_match_as_hadoops() {
        for (pattern, yes, no) in [
            ("*", "abc", "/"),
            ("a*c", "abbc", "ab"),
            ("a?c", "abc", "ac"),
            ("[a-c]x", "bx", "dx"),
            ("[^a-c]x", "dx", "bx"),
            ("[!a]", "b", "a"),
            ("[ab-]", "-", "c"),
            ("{ab,c*}d", "cxxd", "abx"),
            ("{a,{b,c}}", "c", "d"),
            ("a\\*b*", "a*bc", "axbc"),
            ("*.{gz,bz2}", "x.gz", "x.zip"),
            ("ü?", "üx", "u"),
        ] {
            assert!(is_match(pattern, yes), "{pattern} {yes}");
            if no != "/" {
                assert!(!is_match(pattern, no), "{pattern} {no}");
            }
        }
    }

    #[test]
    fn a_text_without_wildcards_is_itself() {
        assert_eq!(Pattern::parse("plain"), Ok(None));
        assert_eq!(Pattern::parse("a\\*b"), Ok(None));
        assert_eq!(unescape("a\\*b\\\\"), "a*b\\");
        assert!(Pattern::parse("{a").is_err());
        assert!(Pattern::parse("[a").is_err());
        assert_eq!(Pattern::parse("a,b}"), Ok(None));
    }

    #[test]
    fn a_group_with_a_slash_becomes_several_patterns() {
        assert_eq!(expand_slashes("/{a/b,c}/d"), ["/a/b/d", "/c/d"]);
        assert_eq!(expand_slashes("/{a,b}/d"), ["/{a,b}/d"]);
        assert_eq!(expand_slashes("{x,y}/{a/b,{c,d}/e}"), ["{x,y}/a/b", "{x,y}/{c,d}/e"]);
    }
}
