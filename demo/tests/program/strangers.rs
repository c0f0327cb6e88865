//! Both ends of a conversation with something else: what a guest says to a server of another version or with other content, and what a host and a
//! relay say to such a client. The other end is played by this test, over the real transport.

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::{Answer, Greeting, Welcome};
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::transport::sealed::{
    ClientEvent, SealedClient, SealedConfig, SealedEvent, SealedServer,
};
use testudo_lockstep::{Duration, PROTOCOL_VERSION};

use crate::network::Process;
use crate::relayed::Relay;
use crate::run::{Ended, program, run};

/// Rounds of 10 ms that a test waits for something: two minutes.
const ROUNDS_MAX: u32 = 12_000;

/// What a guest says that is answered like this. Anybody else may be asked for the same.
fn told(answer: &[u8], is_accepted: bool, command: &str) -> Ended {
    let mut server = SealedServer::bind("127.0.0.1:0".parse().expect("an address"), &SealedConfig::new())
        .expect("a free port");
    let code = JoinCode::new(&[server.local_address()], server.certificate_hash(), [7; 16]).expect("a code");
    let arguments = command.replace("CODE", &code.to_string());
    let mut guest = program(&arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    for _ in 0..ROUNDS_MAX {
        server.wait(Duration::from_millis(10));
        while let Some(event) = server.poll() {
            match event {
                SealedEvent::Greeting { peer, .. } if is_accepted => server.accept(peer, answer),
                SealedEvent::Greeting { peer, .. } => server.refuse(peer, answer),
                _ => {}
            }
        }
        if guest.try_wait().expect("it can be asked").is_some() {
            break;
        }
    }
    let output = guest.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// What a host of a match of two says to a guest.
fn welcome() -> Welcome {
    let mut host = Process::start("host --players 2 --units 3 --turns 6");
    let (_, code) = host.invitation();
    let pass = Pass::from(code.parse::<JoinCode>().expect("a code").secret());
    let ClientEvent::Accepted(answer) = answer_to(&code, &Greeting::Come { pass }.to_bytes()) else {
        panic!("the code is good")
    };
    let Some(Answer::Come(welcome)) = Answer::read(&answer) else { panic!("no welcome") };
    welcome
}

/// The same with another map and content. `demo/src/app/online/agreement.rs` says which byte is what.
fn altered(welcome: &Welcome, map: u64, content: u64) -> Vec<u8> {
    let told = &welcome.agreement;
    let mut game = told.game().to_vec();
    game[12..28].copy_from_slice(&[map.to_le_bytes(), content.to_le_bytes()].concat());
    let config = told.config().content_hash(content);
    let agreement = Agreement::with_action_bits(&config, told.action_bits(), &game).expect("a match");
    Answer::Come(Welcome { agreement, ..welcome.clone() }).to_bytes()
}

#[test]
fn a_guest_says_in_one_line_why_it_cannot_play() {
    const JOIN: &str = "join CODE --bot --headless --no-replay";
    const OPEN: &str = "host --relay CODE --players 2 --bot --headless --no-replay";
    let welcome = welcome();
    let cases: [(&str, Vec<u8>, bool, &str); 8] = [
        (JOIN, vec![2, 0x39, 0x30], false, "speaks protocol version 12345"),
        (OPEN, vec![2, 0x39, 0x30], false, "speaks protocol version 12345"),
        (JOIN, altered(&welcome, 0, 1), true, "plays by other rules"),
        (JOIN, altered(&welcome, 1, 1), true, "a map of its own"),
        (JOIN, vec![3], false, "no free place"),
        (JOIN, vec![7], false, "the match is over"),
        (OPEN, vec![6], false, "opens no more rooms"),
        (JOIN, vec![0, 1, 2, 3], true, "was not understood"),
    ];
    for (command, answer, is_accepted, part) in cases {
        let ended = told(&answer, is_accepted, command);
        assert_eq!((ended.code, ended.stderr.lines().count()), (1, 1), "{part}: {ended:?}");
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
}

/// The answer to a greeting.
fn answer_to(code: &str, greeting: &[u8]) -> ClientEvent {
    let code: JoinCode = code.parse().expect("a code");
    let config = SealedConfig::new();
    let mut client = SealedClient::connect(code.addresses(), code.certificate_hash(), greeting, &config)
        .expect("a socket");
    (0..ROUNDS_MAX)
        .find_map(|_| {
            client.wait(Duration::from_millis(10));
            client.poll()
        })
        .expect("an answer")
}

#[test]
fn a_client_of_another_version_is_told_ours() {
    let mut host = Process::start("host --players 2 --units 3 --turns 6");
    let (_, code) = host.invitation();
    let relay = Relay::start("");
    for code in [&code, &relay.code] {
        let secret = *code.parse::<JoinCode>().expect("a code").secret();
        let greeting = [&[0x39, 0x30, 0][..], &secret, &[0]].concat();
        let ours = [&[2][..], &PROTOCOL_VERSION.to_le_bytes()].concat();
        assert_eq!(answer_to(code, &greeting), ClientEvent::Refused(ours), "this is our version");
        assert_eq!(answer_to(code, b"?"), ClientEvent::Refused(vec![8]), "no greeting at all");
    }
    let guest = run(&format!("join {code} --bot --headless --no-replay --json"));
    assert_eq!((guest.code, host.end().0), (0, 0), "the match has not been disturbed");
}
