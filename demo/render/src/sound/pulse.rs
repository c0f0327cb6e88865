//! Linux: the sound server of the desktop (PulseAudio, or PipeWire in its place), by its protocol on a socket. Nothing is linked, and without
//! a server there is silence.

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

/// The way to the server.
pub(super) struct Speaker {
    events: SyncSender<Event>,
    thread: JoinHandle<()>,
    /// Closes the stream when it is dropped.
    _open: Sender<()>,
}

impl Speaker {
    /// Whether there is a server, or it has not answered yet.
    pub(super) fn is_connected(&self) -> bool {
        !self.thread.is_finished()
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

fn start_with(connect: impl FnOnce() -> Result<Client, ClientError> + Send + 'static) -> Speaker {
    let (events, heard) = sync_channel(EVENTS_MAX);
    let (open, is_open) = channel::<()>();
    let thread = thread::spawn(move || {
        if let Ok(client) = connect()
            && let Ok(_stream) = play(&client, heard)
        {
            // Until the window is closed.
            let _ = is_open.recv();
        }
    });
    Speaker { events, thread, _open: open }
}

/// Opens a stream, whose samples come from a mixer that hears the events.
fn play(client: &Client, events: Receiver<Event>) -> Result<PlaybackStream, ClientError> {
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
    use std::io::{BufReader, Cursor, Read as _};
    use std::os::unix::net::UnixStream;

    use pulseaudio::protocol::{
        AuthReply, Command, CommandReply, CreatePlaybackStreamReply, MAX_VERSION, Request,
        SetClientNameReply, read_command_message, read_descriptor, write_command_message,
        write_reply_message,
    };

    use super::*;
    use crate::sound::cue::Cue;
    use crate::sound::{Output, Sounds};

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

    #[test]
    fn a_server_hears_a_horn_and_nothing_when_muted() {
        const BYTES: u32 = 12_800;
        let (here, there) = UnixStream::pair().expect("two sockets");
        let speaker = start_with(move || Client::new_unix(c"test", here, None::<&[u8]>));
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
        let speaker = start_with(move || Client::new_unix(c"test", here, None::<&[u8]>));
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

    #[test]
    fn without_a_server_there_is_silence() {
        let speaker = start_with(|| Err(ClientError::ServerUnavailable));
        while speaker.is_connected() {
            thread::yield_now();
        }
        assert!((0..2 * EVENTS_MAX).all(|_| !speaker.send(Event::Gain(1.0))));
    }
}
