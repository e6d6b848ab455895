//! Whether the way to the server is safe.

use std::time::{Duration, SystemTime};

use futures_lite::FutureExt;

use super::probe::NoAnswer;
use super::site::Site;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};
use crate::net::{Address, Certificate, Unseen};
use crate::reactor::Timer;

/// How long a certificate should be good for, at least: whoever renews it needs time to notice that
/// it was not.
const ENOUGH: Duration = Duration::from_secs(14 * DAY);

/// A day, in seconds.
const DAY: u64 = 86_400;

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "tls",
        title: "the connection is encrypted (TLS 1.2 or later) by a certificate that is trusted",
        clause: "MCP 2026-07-28, Authorization, Security Considerations; RFC 9325, section 3.1",
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

async fn expiry(site: &Site) -> Finding {
    if !site.address.is_tls() {
        return Finding::skip("the URL is not https");
    }
    let patience = site.options.patience;
    let too_late = async {
        Timer::after(patience).await;
        Err(Unseen::Failed(format!("no certificate within {patience:?}")))
    };
    let seen = Certificate::of(&site.address, &site.settings).or(too_late).await;
    let Certificate { not_after, version } = match seen {
        Ok(certificate) => certificate,
        Err(unseen) => return Finding::unknown(unseen.to_string()),
    };
    match not_after.duration_since(SystemTime::now()) {
        Ok(left) => {
            let evidence = format!("good for {} days; {version}", left.as_secs() / DAY);
            if left < ENOUGH { Finding::warn(evidence) } else { Finding::pass(evidence) }
        }
        Err(_) => Finding::fail(format!("its time is over; {version}")),
    }
}

fn tls(site: &Site) -> Finding {
    match () {
        () if site.settings.unix_socket.is_some() => Finding::skip("a Unix socket"),
        () if site.address.is_tls() && site.settings.tls.insecure => {
            Finding::unknown("--insecure: any certificate was taken")
        }
        () if site.address.is_tls() => {
            let heard = site.heard();
            let strict = heard.iter().find_map(|it| it.header("strict-transport-security"));
            let strict = strict.map_or_else(
                || "no Strict-Transport-Security".to_owned(),
                |value| format!("Strict-Transport-Security: {}", excerpt(value)),
            );
            Finding::pass(format!("the certificate is trusted and names this host; {strict}"))
        }
        () if site.address.is_loopback() => Finding::skip("the connection stays on this machine"),
        () => Finding::fail("http: whoever is on the way reads and changes everything"),
    }
}

async fn downgrade(site: &Site) -> Finding {
    if !site.address.is_tls() {
        return Finding::skip("the URL is not https");
    }
    // Without a port in the URL this is another port, 80; with one it is the same, which a server
    // can use for both.
    let plain = site.address.as_str().replacen("https://", "http://", 1);
    let Ok(plain) = Address::parse(&plain) else {
        return Finding::unknown("the URL cannot be asked without encryption");
    };
    match site.ask_elsewhere(&site.greeting().to(plain)).await {
        Ok(answer) if answer.is_taken() => Finding::fail(format!("http: {}", answer.summary())),
        Ok(answer) => Finding::pass(format!("http: HTTP {}", answer.status.as_u16())),
        Err(NoAnswer::Broken(text)) => Finding::pass(format!("http: {text}")),
        Err(no_answer) => no_answer.into(),
    }
}
