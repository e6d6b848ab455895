//! Smoke.
use mcpmini::client::*;
use mcpmini::protocol::opening::Certainty;
use mcpmini::protocol::params::Params;
use mcpmini::protocol::session::*;
use mcpmini::transport::stdio;
use std::time::{Duration, Instant};
struct O;
impl Observer for O {
    fn opened(&mut self, s: &Session) {
        eprintln!("opened {:?}", s.about().unwrap().revision.date);
    }
    fn notified(&mut self, n: &mcpmini::protocol::jsonrpc::Notification) {
        eprintln!("{n:?}");
    }
    fn odd(&mut self, o: &Oddity) -> bool {
        eprintln!("{o:?}");
        true
    }
    fn asked(&mut self, _q: &Question) -> Reply {
        Reply::Answer(Ok("{\"action\":\"decline\"}".into()))
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let ex = smol::LocalExecutor::new();
    ex.spawn(async_process::driver()).detach();
    async_io::block_on(ex.run(async {
        let t = stdio::Target {
            program: args[1].clone().into(),
            args: args[2..].iter().map(Into::into).collect(),
            env: std::env::vars_os().collect(),
            cwd: None,
            stderr: stdio::StderrPolicy::Tail,
            patience: stdio::Patience::default(),
        };
        let p = Profile {
            client: ("mcpmini", "0"),
            abilities: Abilities::default(),
            probe_timeout: Duration::from_secs(2),
            start_timeout: Some(Duration::from_secs(30)),
            text_ids: false,
            listen: false,
        };
        let mut c = open(&ex, Server::Stdio(t), Default::default(), Certainty::Unknown, p);
        let call = Call {
            method: "tools/call".into(),
            params: Params::new().with("name", "\"echo\"").with("arguments", "{}"),
            idle: Some(Duration::from_secs(3)),
            ..Call::default()
        };
        let t0 = Instant::now();
        let r = c.call(call, &mut O, futures_lite::future::pending()).await;
        let s = format!("{r:?}");
        println!("{} {:?}", &s[..s.len().min(300)], t0.elapsed());
        c.close(futures_lite::future::pending::<()>()).await;
        println!("closed {:?}", t0.elapsed());
    }));
}
