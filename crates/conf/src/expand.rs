//! `${name}` in values. Source: `Configuration.java` (`substituteVars`, `findSubVariable`), Hadoop 3.5.0.

/// Passes before Hadoop gives up with "Variable substitution depth too large".
const PASSES_MAX: usize = 20;

/// Replaces variables, left-most first, until none is left. A variable that `look_up` does not know stays as it is, and ends
/// the expansion; so does one that refers to itself.
///
/// # Errors
/// The text after `PASSES_MAX` passes that still has a variable.
pub(crate) fn expand(value: &str, look_up: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut text = value.to_string();
    for _ in 0..PASSES_MAX {
        let Some((start, end)) = find_variable(&text) else { return Ok(text) };
        let name = text[start + 2..end].to_string();
        let Some(replacement) = look_up(&name) else { return Ok(text) };
        let reference = format!("${{{name}}}");
        if replacement.contains(&reference) {
            return Ok(value.to_string());
        }
        text.replace_range(start..=end, &replacement);
    }
    if find_variable(&text).is_some() { Err(text) } else { Ok(text) }
}

/// Byte positions of `${` and `}` of the first variable: a name without blank, `$` and `}`.
fn find_variable(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("${") {
        let start = from + at;
        let rest = &text[start + 2..];
        match rest.find(['}', '$', ' ']) {
            Some(length) if length > 0 && rest.as_bytes()[length] == b'}' => return Some((start, start + 2 + length)),
            Some(length) => from = start + 2 + length,
            None => return None,
        }
    }
    None
}

/// The default of `env.NAME:-default` (unset or empty) and `env.NAME-default` (unset), and the variable's name.
pub(crate) fn environment(name: &str, get: impl Fn(&str) -> Option<String>) -> Option<String> {
    let variable = name.strip_prefix("env.")?;
    let default_at = variable.find('-');
    match default_at {
        None => get(variable),
        Some(i) if variable[..i].ends_with(':') => {
            let value = get(&variable[..i - 1]).filter(|v| !v.is_empty());
            Some(value.unwrap_or_else(|| variable[i + 1..].to_string()))
        }
        Some(i) => Some(get(&variable[..i]).unwrap_or_else(|| variable[i + 1..].to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(value: &str) -> Result<String, String> {
        let env = |n: &str| match n {
            "HOME" => Some("/h".to_string()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        expand(value, |name| match name {
            "a" => Some("1".to_string()),
            "b" => Some("${a}${a}".to_string()),
            "self" => Some("x${self}".to_string()),
            "n" => Some("a".to_string()),
            "p" => Some("${q}".to_string()),
            "q" => Some("${p}".to_string()),
            _ => environment(name, env),
        })
    }

    #[test]
    fn variables() {
        let cases = [
            ("x${a}y${b}", "x1y11"),
            ("${${n}}", "1"),
            ("${none}${a}", "${none}${a}"),
            ("${a b}${}$a${a", "${a b}${}$a${a"),
            ("${env.HOME}/x", "/h/x"),
            ("${env.NO:-d}${env.EMPTY:-e}${env.EMPTY-e}${env.NO-f}", "def"),
            ("y${self}", "y${self}"),
        ];
        for (value, want) in cases {
            assert_eq!(show(value).as_deref(), Ok(want), "{value}");
        }
    }

    #[test]
    fn two_keys_that_name_each_other_end() {
        assert!(show("${p}").is_err());
    }
}
