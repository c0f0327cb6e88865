//! Linux: the sound server of the desktop (PulseAudio, or PipeWire in its place), by its protocol on a socket. Nothing is linked, and without
//! a server there is silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use pulseaudio::protocol::stream::{BufferAttr, StreamFlags};
use pulseaudio::protocol::{
    ChannelMap, ChannelVolume, DEFAULT_SINK, PlaybackStreamParams, SampleFormat, SampleSpec,
};
use pulseaudio::{AsPlaybackSource as _, Client, ClientError, PlaybackStream};

use crate::sound::mixer::{Event, Mixer};
use crate::sound::wave::RATE;

/// Events that wait for the mixer; more are left out, because nobody listens.
const EVENTS_MAX: usize = 256;

/// Sound that the server keeps ahead, milliseconds, and bytes of a sample.
const AHEAD_MS: u32 = 50;
const SAMPLE: usize = 2;

/// Finds the server.
type Connect = dyn Fn() -> Result<Client, ClientError> + Send + Sync;

/// The way to the server.
pub(super) struct Speaker {
    connect: Arc<Connect>,
    events: SyncSender<Event>,
    thread: JoinHandle<()>,
    /// There is a server, or the first one has not answered yet.
    is_there: Arc<AtomicBool>,
    /// Closes the stream.
    _end: Bell,
}

/// Rings when it is dropped: with the window's end of the way, or with the server's.
struct Bell(Sender<()>);

impl Drop for Bell {
    fn drop(&mut self) {
        // Both may ring.
        let _ = self.0.send(());
    }
}

impl Speaker {
    /// Whether there is a server, or the first one has not answered yet.
    pub(super) fn is_connected(&self) -> bool {
        !self.is_over() && self.is_there.load(Ordering::Relaxed)
    }

    /// Whether there is no server, or none any more.
    pub(super) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Looks for a server again.
    pub(super) fn again(&mut self) {
        *self = begin(Arc::clone(&self.connect), false);
    }

    /// Returns whether the mixer will hear it. If not, there is no server, or it does not listen.
    pub(super) fn send(&self, event: Event) -> bool {
        self.events.try_send(event).is_ok()
    }
}

/// Looks for a server in a thread of its own, because an answer may take long.
pub(super) fn start() -> Speaker {
    start_with(|| Client::from_env(c"Testudo"))
}

fn start_with(connect: impl Fn() -> Result<Client, ClientError> + Send + Sync + 'static) -> Speaker {
    begin(Arc::new(connect), true)
}

/// `is_there`: what is believed until the server has answered.
fn begin(connect: Arc<Connect>, is_there: bool) -> Speaker {
    let (events, heard) = sync_channel(EVENTS_MAX);
    let (rung, rings) = channel::<()>();
    let is_there = Arc::new(AtomicBool::new(is_there));
    let (ask, server, at_server) = (Arc::clone(&connect), Arc::clone(&is_there), Bell(rung.clone()));
    let thread = thread::spawn(move || {
        if let Ok(client) = ask()
            && let Ok(_stream) = play(&client, heard, at_server)
        {
            server.store(true, Ordering::Relaxed);
            // Until the window is closed, or the server ends.
            let _ = rings.recv();
        }
    });
    Speaker { connect, events, thread, is_there, _end: Bell(rung) }
}

/// Opens a stream, whose samples come from a mixer that hears the events. The bell rings when nobody asks for samples any more.
fn play(client: &Client, events: Receiver<Event>, bell: Bell) -> Result<PlaybackStream, ClientError> {
    let length = RATE * SAMPLE as u32 * AHEAD_MS / 1_000;
    let params = PlaybackStreamParams {
        sample_spec: SampleSpec { format: SampleFormat::S16Le, channels: 1, sample_rate: RATE },
        channel_map: ChannelMap::mono(),
        sink_name: Some(DEFAULT_SINK.to_owned()),
        cvolume: Some(ChannelVolume::norm(1)),
        buffer_attr: BufferAttr { target_length: length, ..BufferAttr::default() },
        flags: StreamFlags { adjust_latency: true, ..StreamFlags::default() },
        ..PlaybackStreamParams::default()
    };
    let (mut mixer, mut samples) = (Mixer::new(), Vec::new());
    let source = move |bytes: &mut [u8]| {
        let _ = &bell;
        for event in events.try_iter() {
            mixer.hear(event);
        }
        samples.resize(bytes.len() / SAMPLE, 0.0);
        mixer.fill(&mut samples);
        for (two, sample) in bytes.chunks_exact_mut(SAMPLE).zip(&samples) {
            two.copy_from_slice(&((sample * f32::from(i16::MAX)) as i16).to_le_bytes());
        }
        samples.len() * SAMPLE
    };
    let wait = tokio::runtime::Builder::new_current_thread().build()?;
    wait.block_on(client.create_playback_stream(params, source.as_playback_source()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io::{BufReader, Cursor, Read as _};
    use std::os::unix::net::UnixStream;
    use std::sync::Mutex;

    use pulseaudio::protocol::{
        AuthReply, Command, CommandReply, CreatePlaybackStreamReply, MAX_VERSION, Request,
        SetClientNameReply, read_command_message, read_descriptor, write_command_message,
        write_reply_message,
    };

    use super::*;
    use crate::sound::cue::Cue;
    use crate::sound::{AGAIN_SECONDS, Output, Sounds};

    /// A server that takes one stream and hands out what it is sent.
    struct Server(BufReader<UnixStream>);

    impl Server {
        /// Answers up to the stream, and asks for its first bytes.
        fn greet(socket: UnixStream, bytes: u32) -> Self {
            let mut server = Self(BufReader::new(socket));
            let (number, command) = server.command();
            assert!(matches!(command, Command::Auth(_)), "{command:?}");
            server.answer(number, &AuthReply { version: MAX_VERSION, ..AuthReply::default() });
            let (number, command) = server.command();
            assert!(matches!(command, Command::SetClientName(_)), "{command:?}");
            server.answer(number, &SetClientNameReply { client_id: 1 });
            let (number, command) = server.command();
            let Command::CreatePlaybackStream(params) = command else { panic!("{command:?}") };
            let answer = CreatePlaybackStreamReply {
                channel: 3,
                requested_bytes: bytes,
                sample_spec: params.sample_spec,
                channel_map: params.channel_map,
                buffer_attr: params.buffer_attr,
                ..CreatePlaybackStreamReply::default()
            };
            server.answer(number, &answer);
            server
        }

        fn command(&mut self) -> (u32, Command) {
            read_command_message(&mut self.0, MAX_VERSION).expect("a command")
        }

        fn answer(&mut self, number: u32, answer: &impl CommandReply) {
            write_reply_message(self.0.get_mut(), number, answer, MAX_VERSION).expect("an answer");
        }

        /// The loudest of the next samples.
        fn peak(&mut self, bytes: usize) -> u16 {
            let mut all = Vec::new();
            while all.len() < bytes {
                let head = read_descriptor(&mut self.0).expect("a descriptor");
                let mut payload = vec![0; head.length as usize];
                self.0.read_exact(&mut payload).expect("samples");
                if head.channel == 3 {
                    all.extend(payload);
                } else {
                    let told = Command::read_tag_prefixed(&mut Cursor::new(payload), MAX_VERSION);
                    panic!("samples expected: {told:?}");
                }
            }
            assert_eq!(all.len(), bytes);
            let samples = all.chunks_exact(SAMPLE).map(|two| i16::from_le_bytes([two[0], two[1]]));
            samples.map(i16::unsigned_abs).max().unwrap_or(0)
        }

        fn ask(&mut self, bytes: u32) {
            let request = Command::Request(Request { channel: 3, length: bytes });
            write_command_message(self.0.get_mut(), u32::MAX, &request, MAX_VERSION).expect("a request");
        }
    }

    /// Servers that come up one after the other.
    fn servers<const N: usize>(
        sockets: [UnixStream; N],
    ) -> impl Fn() -> Result<Client, ClientError> + Send + Sync + 'static {
        let sockets = Mutex::new(VecDeque::from(sockets));
        move || {
            let socket = sockets.lock().expect("nobody has panicked").pop_front();
            let socket = socket.ok_or(ClientError::ServerUnavailable)?;
            Client::new_unix(c"test", socket, None::<&[u8]>)
        }
    }

    #[test]
    fn a_server_hears_a_horn_and_nothing_when_muted() {
        const BYTES: u32 = 12_800;
        let (here, there) = UnixStream::pair().expect("two sockets");
        let speaker = start_with(servers([here]));
        let mut server = Server::greet(there, BYTES);
        assert_eq!(server.peak(BYTES as usize), 0, "nothing has happened yet");
        speaker.send(Event::Play { cue: Cue::Horn, variant: 0, loudness: 1.0 });
        server.ask(BYTES);
        assert!(server.peak(BYTES as usize) > 3_000);
        speaker.send(Event::Gain(0.0));
        server.ask(BYTES);
        assert_eq!(server.peak(BYTES as usize), 0);
        assert!(speaker.is_connected());
    }

    /// While a server stands still, events are left out. The one that mutes must not be.
    #[test]
    fn whoever_is_muted_while_the_server_stands_still_is_silent_when_it_goes_on() {
        const BYTES: u32 = 12_800;
        let (here, there) = UnixStream::pair().expect("two sockets");
        let speaker = start_with(servers([here]));
        let mut server = Server::greet(there, BYTES);
        assert_eq!(server.peak(BYTES as usize), 0, "nothing has happened yet");
        let mut sounds = Sounds::to(Output::Pulse(speaker));
        for _ in 0..2 * EVENTS_MAX {
            sounds.pass(20.0);
            sounds.play(Cue::Horn, 1.0);
        }
        sounds.set_muted(true);
        server.ask(BYTES);
        assert!(server.peak(BYTES as usize) > 3_000, "this was on its way");
        sounds.pass(0.02);
        server.ask(BYTES);
        assert_eq!(server.peak(BYTES as usize), 0);
    }

    /// There was silence from then on, and the button said "Sound".
    #[test]
    fn a_server_that_starts_again_is_found() {
        const BYTES: u32 = 12_800;
        let [(here, there), (again, back)] = [(); 2].map(|()| UnixStream::pair().expect("two sockets"));
        let mut sounds = Sounds::to(Output::Pulse(start_with(servers([here, again]))));
        let server = Server::greet(there, BYTES);
        assert!(sounds.is_heard());
        sounds.set_muted(true);
        drop(server);
        while sounds.is_heard() {
            thread::yield_now();
        }
        // It answers as soon as it is asked.
        let server = thread::spawn(move || Server::greet(back, BYTES));
        sounds.pass(AGAIN_SECONDS);
        let mut server = server.join().expect("it was asked");
        assert_eq!(server.peak(BYTES as usize), 0, "it is still muted");
        while !sounds.is_heard() {
            thread::yield_now();
        }
        sounds.set_muted(false);
        assert!(sounds.play(Cue::Horn, 1.0));
        server.ask(BYTES);
        assert!(server.peak(BYTES as usize) > 3_000);
    }

    #[test]
    fn without_a_server_there_is_silence() {
        let speaker = start_with(|| Err(ClientError::ServerUnavailable));
        while speaker.is_connected() {
            thread::yield_now();
        }
        assert!((0..2 * EVENTS_MAX).all(|_| !speaker.send(Event::Gain(1.0))));
    }
}
