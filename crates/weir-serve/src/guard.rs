//! Permissions of requests.
//!
//! - A `Host` that is a name other than localhost is refused unless it was allowed: a page elsewhere
//!   whose name was made to point here (DNS rebinding) would otherwise count as this site.
//! - Where others can reach the server, everything but the empty page needs the token: as a bearer,
//!   or as a session that was opened with it.
//! - A browser that asks for another site's page (Fetch Metadata) may open pages of this server and
//!   nothing else: or any page could make it read results, while a study is measured on this host.
//! - Whatever changes something is no GET, comes from this site (`Origin`, Fetch Metadata) and
//!   carries a secret that only a page of this site can read (against cross-site request forgery).
//!   See OWASP, "Cross-Site Request Forgery Prevention Cheat Sheet".

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Token;
use crate::api_error::ApiError;

/// The header that carries the secret of a page.
pub(crate) const PAGE_SECRET: HeaderName = HeaderName::from_static("x-weir-page");
/// The cookie that carries a session.
pub(crate) const SESSION: &str = "weir_session";
/// Path that opens a session; it needs no session yet.
pub(crate) const LOGIN: &str = "/api/login";

/// The rules of one server.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Needed for everything where others can reach the server.
    token: Option<Token>,
    /// Token of the session. One for all: the token permits all.
    session: Token,
    /// Secret that pages of this site send with every request that changes something.
    page_secret: Token,
    /// Names besides localhost under which the server may be asked.
    names: Vec<String>,
}

impl Guard {
    /// `token` of `None` trusts all clients that can connect: on loopback only.
    pub(crate) fn new(token: Option<Token>, names: Vec<String>) -> Self {
        Self {
            token,
            session: Token::generate(),
            page_secret: Token::generate(),
            names,
        }
    }

    pub(crate) fn page_secret(&self) -> &str {
        self.page_secret.reveal()
    }

    /// A session for a client with the token.
    pub(crate) fn open_session(&self, presented: &str) -> Option<&str> {
        let token = self.token.as_ref()?;
        token.is(presented).then(|| self.session.reveal())
    }

    fn check(&self, request: &Request) -> Result<(), ApiError> {
        let headers = request.headers();
        let host = text(headers, &HOST).unwrap_or_default();
        if !self.is_this_host(host) {
            return Err(ApiError::new(
                StatusCode::MISDIRECTED_REQUEST,
                format!("not served under the name `{host}`; allow it with --host-name"),
            ));
        }
        let path = request.uri().path();
        let bearer = self.has_bearer(headers);
        if self.token.is_some()
            && !(path == "/" || path == LOGIN || bearer || self.has_session(headers))
        {
            return Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "the token that `weir serve` printed is needed",
            ));
        }
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            return if is_from_elsewhere(headers) && !is_opened(headers) {
                Err(ApiError::new(
                    StatusCode::FORBIDDEN,
                    "pages of other sites may link to this server, not read from it",
                ))
            } else {
                Ok(())
            };
        }
        if !is_same_site(headers, host) {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "changes are accepted from pages of this server only",
            ));
        }
        let secret = text(headers, &PAGE_SECRET);
        if path == LOGIN || bearer || secret.is_some_and(|secret| self.page_secret.is(secret)) {
            return Ok(());
        }
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "the secret of this server's page is missing; reload the page",
        ))
    }

    /// Loopback, any address, or a name that was allowed. An address cannot be rebound.
    fn is_this_host(&self, host: &str) -> bool {
        let name = without_port(host);
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok()
            || self
                .names
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }

    fn has_bearer(&self, headers: &HeaderMap) -> bool {
        let bearer = text(headers, &AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        let token = self.token.as_ref();
        token
            .zip(bearer)
            .is_some_and(|(token, bearer)| token.is(bearer))
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let cookies = text(headers, &COOKIE).unwrap_or_default().split("; ");
        let mut pairs = cookies.filter_map(|cookie| cookie.split_once('='));
        pairs.any(|(name, value)| name == SESSION && self.session.is(value))
    }
}

/// The middleware: checks a request, and tells browsers what pages of this server may do.
pub(crate) async fn guarded(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        let header = HeaderName::from_static(name);
        response
            .headers_mut()
            .insert(header, HeaderValue::from_static(value));
    }
    response
}

/// Returns true if a browser declares that the request comes from a page of `host`. Other programs
/// say nothing.
fn is_same_site(headers: &HeaderMap, host: &str) -> bool {
    let origin = text(headers, &ORIGIN);
    let same_origin = origin.is_none_or(|origin| {
        let (_, authority) = origin.split_once("://").unwrap_or_default();
        authority == host
    });
    same_origin && !is_from_elsewhere(headers)
}

/// Returns true if a browser declares that another site's page asks; `none` is the reader, by the
/// address bar.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = text(headers, &HeaderName::from_static("sec-fetch-site"));
    site.is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

/// Returns true if a browser opens the answer as a page of its own: a link was followed.
fn is_opened(headers: &HeaderMap) -> bool {
    let is = |name, value| text(headers, &HeaderName::from_static(name)) == Some(value);
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// `[::1]:80` as `::1`, `localhost:80` as `localhost`.
fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.split(':').next().unwrap_or_default()
}

/// Returns true if only this host can reach a server on `address`.
pub(crate) fn is_private(address: SocketAddr) -> bool {
    address.ip().is_loopback()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn guard(token: Option<&Token>) -> Guard {
        Guard::new(token.cloned(), vec!["weir.example".to_owned()])
    }

    /// Status of a refusal; 200 if it is let through.
    fn status(guard: &Guard, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match guard.check(&request.body(Body::empty()).unwrap()) {
            Ok(()) => 200,
            Err(refusal) => refusal.into_response().status().as_u16(),
        }
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:7878");

    #[test]
    fn a_name_that_was_made_to_point_here_is_refused() {
        let guard = guard(None);
        let get = |host| status(&guard, "GET", "/api/results", &[("host", host)]);
        for host in [
            "127.0.0.1:7878",
            "localhost:1",
            "[::1]:7878",
            "10.0.0.5",
            "weir.example:80",
        ] {
            assert_eq!(get(host), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:7878",
            "",
            "127.0.0.1.evil.example",
        ] {
            assert_eq!(get(host), 421, "{host}");
        }
    }

    #[test]
    fn a_change_needs_the_secret_of_a_page_and_the_same_site() {
        let guard = guard(None);
        let secret = guard.page_secret().to_owned();
        let post = |headers: &[(&str, &str)]| {
            let all: Vec<_> = [HERE].iter().chain(headers).copied().collect();
            status(&guard, "POST", "/api/studies/stop", &all)
        };
        let secret = ("x-weir-page", secret.as_str());
        assert_eq!(post(&[secret]), 200);
        assert_eq!(post(&[secret, ("origin", "http://127.0.0.1:7878")]), 200);
        assert_eq!(post(&[]), 403, "without the secret");
        assert_eq!(post(&[("x-weir-page", "guess")]), 403);
        for origin in ["http://evil.example", "null", "http://127.0.0.1:9"] {
            assert_eq!(post(&[secret, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(post(&[secret, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(post(&[secret, ("sec-fetch-site", "same-origin")]), 200);
    }

    #[test]
    fn another_site_s_page_may_link_to_a_report_and_read_nothing() {
        let guard = guard(None);
        let get = |headers: &[(&str, &str)]| {
            let all: Vec<_> = [HERE].iter().chain(headers).copied().collect();
            status(&guard, "GET", "/report/a", &all)
        };
        let site = ("sec-fetch-site", "cross-site");
        let link = [
            site,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(get(&link), 200);
        for (mode, dest) in [
            ("no-cors", "image"),
            ("cors", "empty"),
            ("navigate", "iframe"),
        ] {
            let from_page = [site, ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            assert_eq!(get(&from_page), 403, "{mode} {dest}");
        }
        // Another port of the same host is another site's page too.
        assert_eq!(get(&[("sec-fetch-site", "same-site")]), 403);
        assert_eq!(get(&[("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(get(&[]), 200, "Prometheus and curl do not say");
    }

    #[test]
    fn where_others_can_connect_everything_but_the_empty_page_needs_the_token() {
        let token = Token::generate();
        let guard = guard(Some(&token));
        let session = guard.open_session(token.reveal()).unwrap().to_owned();
        assert_eq!(guard.open_session("guess"), None);
        let cookie = format!("other=1; {SESSION}={session}");
        let bearer = format!("Bearer {}", token.reveal());
        for path in ["/api/results", "/metrics", "/report/a", "/api/session"] {
            assert_eq!(status(&guard, "GET", path, &[HERE]), 401, "{path}");
            assert_eq!(
                status(&guard, "GET", path, &[HERE, ("cookie", &cookie)]),
                200
            );
            assert_eq!(
                status(&guard, "GET", path, &[HERE, ("authorization", &bearer)]),
                200
            );
        }
        assert_eq!(status(&guard, "GET", "/", &[HERE]), 200);
        let wrong = [HERE, ("cookie", "weir_session=guess")];
        assert_eq!(status(&guard, "GET", "/api/results", &wrong), 401);
        // A session alone changes nothing: a browser would send its cookie for any page.
        let only_session = [HERE, ("cookie", cookie.as_str())];
        assert_eq!(
            status(&guard, "POST", "/api/studies/stop", &only_session),
            403
        );
    }
}
