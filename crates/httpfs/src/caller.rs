//! Who asks: `user.name`, or the cookie that an earlier answer set. Source: `AuthenticationFilter.java`,
//! `PseudoAuthenticationHandler.java`, Hadoop 3.4.2.

use surus_net::http::{HeaderMap, header};

/// The user whom a request names. A cookie counts before the query. Its signature is not looked at: with simple
/// authentication the name is the caller's word in either place.
pub fn user_of(headers: &HeaderMap, query: &str, now_ms: i64) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let from_cookie = cookies.flat_map(|line| line.split(';')).find_map(|cookie| user_of_cookie(cookie.trim(), now_ms));
    from_cookie.or_else(|| surus_webhdfs::user_name(query))
}

/// `hadoop.auth="u=NAME&p=NAME&t=simple-dt&e=MILLISECONDS&s=SIGNATURE"`, unless it has expired.
fn user_of_cookie(cookie: &str, now_ms: i64) -> Option<String> {
    let value = cookie.strip_prefix("hadoop.auth=")?.trim_matches('"');
    let field = |name: &str| value.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let expires_ms: i64 = field("e")?.parse().ok()?;
    // Hadoop's gateway writes `simple-dt`.
    if !field("t")?.starts_with("simple") || expires_ms < now_ms {
        return None;
    }
    // As in a query: the same characters make a name.
    surus_webhdfs::user_name(&format!("user.name={}", field("u")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_net::http::header::{COOKIE, HeaderValue};

    #[test]
    fn a_cookie_counts_until_it_expires() {
        let cookie = surus_webhdfs::auth_cookie("alice", 1000, "sig");
        let cookie = cookie.split(';').next().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(&format!("a=b; {cookie}")).unwrap());
        assert_eq!(user_of(&headers, "user.name=bob", 999).as_deref(), Some("alice"));
        assert_eq!(user_of(&headers, "user.name=bob", 1001).as_deref(), Some("bob"));
        assert_eq!(user_of(&HeaderMap::new(), "op=OPEN", 0), None);
        assert_eq!(user_of_cookie("hadoop.auth=\"u=a/b&t=simple&e=9\"", 0), None);
        assert_eq!(user_of_cookie("hadoop.auth=", 0), None);
    }
}
