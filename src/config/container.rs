//! The options of `docker run`, `podman run` and `nerdctl run`, as far as they tell which word is the
//! image.

/// Options without a value.
const FLAGS: &[&str] = &[
    "--detach",
    "--disable-content-trust",
    "--env-host",
    "--http-proxy",
    "--init",
    "--interactive",
    "--no-healthcheck",
    "--no-hostname",
    "--no-hosts",
    "--oom-kill-disable",
    "--passwd",
    "--privileged",
    "--publish-all",
    "--quiet",
    "--read-only",
    "--read-only-tmpfs",
    "--replace",
    "--rm",
    "--rmi",
    "--rootfs",
    "--sig-proxy",
    "--tls-verify",
    "--tty",
    "--unsetenv-all",
    "--use-api-socket",
];

/// The same in one letter.
const FLAG_LETTERS: &str = "diPqt";

/// Options with a value.
const VALUED: &[&str] = &[
    "add-host",
    "annotation",
    "arch",
    "attach",
    "authfile",
    "blkio-weight",
    "blkio-weight-device",
    "cap-add",
    "cap-drop",
    "cert-dir",
    "cgroup-conf",
    "cgroup-parent",
    "cgroupns",
    "cgroups",
    "chrootdirs",
    "cidfile",
    "conmon-pidfile",
    "cpu-count",
    "cpu-percent",
    "cpu-period",
    "cpu-quota",
    "cpu-rt-period",
    "cpu-rt-runtime",
    "cpu-shares",
    "cpus",
    "cpuset-cpus",
    "cpuset-mems",
    "creds",
    "decryption-key",
    "detach-keys",
    "device",
    "device-cgroup-rule",
    "device-read-bps",
    "device-read-iops",
    "device-write-bps",
    "device-write-iops",
    "dns",
    "dns-opt",
    "dns-option",
    "dns-search",
    "domainname",
    "entrypoint",
    "env",
    "env-file",
    "env-merge",
    "expose",
    "gidmap",
    "gpus",
    "group-add",
    "group-entry",
    "health-cmd",
    "health-interval",
    "health-log-destination",
    "health-max-log-count",
    "health-max-log-size",
    "health-on-failure",
    "health-retries",
    "health-start-interval",
    "health-start-period",
    "health-startup-cmd",
    "health-startup-interval",
    "health-startup-retries",
    "health-startup-success",
    "health-startup-timeout",
    "health-timeout",
    "hostname",
    "hosts-file",
    "hostuser",
    "image-volume",
    "init-ctr",
    "init-path",
    "io-maxbandwidth",
    "io-maxiops",
    "ip",
    "ip6",
    "ipc",
    "isolation",
    "kernel-memory",
    "label",
    "label-file",
    "link",
    "link-local-ip",
    "log-driver",
    "log-opt",
    "mac-address",
    "memory",
    "memory-reservation",
    "memory-swap",
    "memory-swappiness",
    "mount",
    "name",
    "net",
    "net-alias",
    "network",
    "network-alias",
    "oom-score-adj",
    "os",
    "passwd-entry",
    "personality",
    "pid",
    "pidfile",
    "pids-limit",
    "platform",
    "pod",
    "pod-id-file",
    "preserve-fd",
    "preserve-fds",
    "publish",
    "pull",
    "rdt-class",
    "requires",
    "restart",
    "retry",
    "retry-delay",
    "runtime",
    "sdnotify",
    "seccomp-policy",
    "secret",
    "security-opt",
    "shm-size",
    "shm-size-systemd",
    "stop-signal",
    "stop-timeout",
    "storage-opt",
    "subgidname",
    "subuidname",
    "sysctl",
    "systemd",
    "timeout",
    "tmpfs",
    "tz",
    "uidmap",
    "ulimit",
    "umask",
    "unsetenv",
    "user",
    "userns",
    "uts",
    "variant",
    "volume",
    "volume-driver",
    "volumes-from",
    "workdir",
];

/// The same in one letter.
const VALUED_LETTERS: &str = "acehlmpuvw";

/// Whether the word behind an option is its value; `None` for one that is not known.
pub fn takes_value(word: &str) -> Option<bool> {
    if let Some(name) = word.strip_prefix("--") {
        let is_alone = word == "--" || name.contains('=') || FLAGS.contains(&word);
        return if is_alone { Some(false) } else { VALUED.contains(&name).then_some(true) };
    }
    let letters = word.strip_prefix('-')?;
    // The first that takes a value has it right behind, or in the next word.
    let own = letters.trim_start_matches(|letter| FLAG_LETTERS.contains(letter));
    match own.chars().next() {
        None => Some(false),
        Some(letter) => VALUED_LETTERS.contains(letter).then_some(own.len() == 1),
    }
}

/// The word that may be the image among those behind `run`: one, or all that are no options where
/// one is there that is not known.
pub fn images<'w>(args: impl Iterator<Item = &'w str> + Clone) -> Vec<&'w str> {
    let mut rest = args.clone();
    while let Some(word) = rest.next() {
        let is_option = word.len() > 1 && word.starts_with('-');
        match takes_value(word) {
            _ if !is_option => return vec![word],
            Some(true) => drop(rest.next()),
            Some(false) => {}
            None => return args.filter(|word| !word.starts_with('-')).collect(),
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_is_the_first_word_that_is_no_value() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(images(line.split(' ')), expected, "{line}");
        };
        check("mcp/time --x y", &["mcp/time"]);
        check("-i --rm mcp/time", &["mcp/time"]);
        check("-it --name x -v /a:/b mcp/time stdio", &["mcp/time"]);
        check("-itv /a:/b mcp/time", &["mcp/time"]);
        check("-v/a:/b -eA=b mcp/time", &["mcp/time"]);
        check("--env=A --network host --gpus all mcp/time", &["mcp/time"]);
        check("--health-cmd x -- mcp/time", &["mcp/time"]);
        check("--userns keep-id --rootfs /root", &["/root"]);
        check("--brand-new x mcp/time y", &["x", "mcp/time", "y"]);
        check("-iZ x mcp/time", &["x", "mcp/time"]);
        check("--rm --name x", &[]);
    }
}
