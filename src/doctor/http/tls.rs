//! Whether the way to the server is safe.

use std::time::SystemTime;

use super::probe::NoAnswer;
use super::refusal;
use super::site::Site;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::net::{Address, Certificate, Unseen, is_untrusted};
use crate::protocol::rfc3339;

/// How long a certificate should be good for, at least, in seconds: whoever renews it needs time to notice that
/// it was not.
const ENOUGH: i64 = 14 * DAY;

/// A day, in seconds.
const DAY: i64 = 86_400;

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "tls",
        title: "the connection is encrypted (TLS 1.2 or later) by a certificate that is trusted",
        clause: "MCP 2026-07-28, Authorization, Communication Security; RFC 9325, section 3.1",
        fix: "Serve the endpoint over https, with a certificate that common programs trust.",
        run: |site| Box::pin(async { tls(site) }),
    },
    Check {
        id: "tls-expiry",
        title: "the certificate is good for 14 days and more",
        clause: "RFC 5280, section 4.1.2.5",
        fix: "Renew the certificate, and let something renew it by itself before it ends.",
        run: |site| Box::pin(expiry(site)),
    },
    Check {
        id: "tls-downgrade",
        title: "the same server does not answer without encryption",
        clause: "RFC 9325, section 3.2; RFC 6797",
        fix: "Answer plain http with nothing, or with a redirect to https, and never with results.",
        run: |site| Box::pin(downgrade(site)),
    },
];

fn tls(site: &Site) -> Finding {
    let is_tls = site.address.is_tls();
    match site.unreached() {
        _ if site.settings.unix_socket.is_some() => Finding::skip("a Unix socket"),
        _ if !is_tls && site.address.is_loopback() => {
            Finding::skip("the connection stays on this machine")
        }
        _ if !is_tls => Finding::fail("http: whoever is on the way reads and changes everything"),
        _ if site.settings.tls.insecure => {
            Finding::unknown("--insecure: any certificate was taken", Need::Trust)
        }
        Some(fault) if is_untrusted(fault) => Finding::fail(excerpt(&fault.text)),
        Some(fault) => NoAnswer::Unreached(fault.clone()).into(),
        None => trusted(site),
    }
}

/// The finding where an answer came over a connection that was checked.
fn trusted(site: &Site) -> Finding {
    let heard = site.heard();
    if heard.is_empty() {
        // Then nobody knows whether there is a certificate.
        return refusal::untold(site, "no answer came over it");
    }
    let strict = heard.iter().find_map(|it| it.header("strict-transport-security"));
    let strict = strict.map_or_else(
        || "no Strict-Transport-Security".to_owned(),
        |value| format!("Strict-Transport-Security: {}", excerpt(value)),
    );
    Finding::pass(format!("the certificate is trusted and names this host; {strict}"))
}

async fn expiry(site: &Site) -> Finding {
    if !site.address.is_tls() {
        return Finding::skip("the URL is not https");
    }
    // This is a connection of its own, which is made also where the certificate is not trusted.
    let patience = site.options.patience.min(site.settings.connect_timeout);
    let seen = Certificate::of(&site.address, &site.settings, patience).await;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    match seen {
        Ok(certificate) => judge(&certificate, now.as_secs().cast_signed()),
        Err(unseen) => {
            let need = match unseen {
                Unseen::NotDirect => Need::Direct,
                Unseen::Failed(_) => Need::Reach,
                Unseen::Late(_) => Need::Patience,
                Unseen::Malformed => Need::Person,
            };
            Finding::unknown(unseen.to_string(), need)
        }
    }
}

/// The finding for a certificate at a time, in seconds since 1970.
fn judge(certificate: &Certificate, now: i64) -> Finding {
    let Certificate { not_before, not_after, version } = certificate;
    if now < *not_before {
        let begin = rfc3339::format(*not_before);
        return Finding::fail(format!("it is not good before {begin}; {version}"));
    }
    let left = not_after - now;
    if left < 0 {
        let end = rfc3339::format(*not_after);
        return Finding::fail(format!("its time was over at {end}; {version}"));
    }
    let evidence = format!("good for {} days; {version}", left / DAY);
    if left < ENOUGH { Finding::warn(evidence) } else { Finding::pass(evidence) }
}

async fn downgrade(site: &Site) -> Finding {
    if !site.address.is_tls() {
        return Finding::skip("the URL is not https");
    }
    // Without a port in the URL this is another port, 80; with one it is the same, which a server
    // can use for both.
    let plain = site.address.as_str().replacen("https://", "http://", 1);
    let Ok(plain) = Address::parse(&plain) else {
        return Finding::unknown("the URL cannot be asked without encryption", Need::Person);
    };
    match site.ask_elsewhere(&site.greeting().to(plain)).await {
        Ok(answer) if answer.is_taken() => Finding::fail(format!("http: {}", answer.summary())),
        Ok(answer) => Finding::pass(format!("http: HTTP {}", answer.status.as_u16())),
        Err(NoAnswer::Broken(fault)) => Finding::pass(format!("http: {}", fault.text)),
        Err(no_answer) => no_answer.into(),
    }
}
