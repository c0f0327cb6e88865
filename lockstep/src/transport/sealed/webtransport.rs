//! WebTransport over HTTP/3, as browsers speak it (draft-ietf-webtrans-http3-02), as far as one session with one stream and datagrams needs it.
//! `wtransport-proto` reads and writes frames, settings and compressed headers, none longer than 4,096 bytes; here is who says what when.
//!
//! Both sides open a stream in one direction and send settings. Then the client opens a stream in both directions, with a request that has
//! no path and no names of interest; the server says yes, and the session lasts as long as this stream. What else arrives on streams of
//! HTTP/3 is not read: the windows of QUIC bound it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use quinn::{Connection, ReadError, RecvStream, SendStream};
use wtransport_proto::bytes::AsyncRead;
use wtransport_proto::frame::{Frame, FrameKind};
use wtransport_proto::headers::Headers;
use wtransport_proto::session::{SessionRequest, SessionResponse};
use wtransport_proto::settings::Settings;
use wtransport_proto::stream_header::{IoReadError, ParseError, StreamHeader, StreamKind};
use wtransport_proto::varint::VarInt;

use super::number::{number, put_number};

/// What a stream of a session begins with; its number follows.
const STREAM: u64 = 0x41;

/// Greatest length of the two numbers at the beginning of a stream.
const STREAM_HEAD_BYTES_MAX: usize = 16;

/// The one session of a connection. Dropping it says nothing to the peer: close the connection.
#[derive(Debug)]
pub(crate) struct WebSession {
    pub(crate) connection: Connection,
    /// The session has the number of its stream in both directions, which is the client's; its end is the end of the session.
    request: (SendStream, RecvStream),
    /// Streams for which HTTP/3 forbids an end.
    _control: SendStream,
    _theirs: Vec<RecvStream>,
}

impl WebSession {
    /// The server's side of the beginning. None: the client does not speak this protocol, or is gone.
    pub(crate) async fn accept(connection: Connection) -> Option<Self> {
        let control = introduce(&connection).await?;
        let theirs = hear(&connection).await?;
        let (mut send, mut receive) = connection.accept_bi().await.ok()?;
        SessionRequest::try_from(headers(&mut receive).await?).ok()?;
        write(&mut send, SessionResponse::ok().headers()).await?;
        Some(Self { connection, request: (send, receive), _control: control, _theirs: theirs })
    }

    /// The client's side of the beginning. None: the server does not speak this protocol, or is gone.
    pub(crate) async fn open(connection: Connection, address: SocketAddr) -> Option<Self> {
        let control = introduce(&connection).await?;
        let theirs = hear(&connection).await?;
        let (mut send, mut receive) = connection.open_bi().await.ok()?;
        write(&mut send, SessionRequest::new(format!("https://{address}/")).ok()?.headers()).await?;
        let response = SessionResponse::try_from(headers(&mut receive).await?).ok()?;
        let session = Self { connection, request: (send, receive), _control: control, _theirs: theirs };
        response.code().is_successful().then_some(session)
    }

    /// The number of its stream among those of its kind, which every datagram of the session bears.
    pub(crate) fn number(&self) -> u64 {
        self.request.1.id().index()
    }

    fn stream_head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        put_number(&mut head, STREAM);
        put_number(&mut head, quinn::VarInt::from(self.request.1.id()).into_inner());
        head
    }

    /// Opens a stream, as the client.
    pub(crate) async fn open_stream(&self) -> Option<(SendStream, RecvStream)> {
        let (mut send, receive) = self.connection.open_bi().await.ok()?;
        send.write_all(&self.stream_head()).await.ok()?;
        Some((send, receive))
    }

    /// What the client says on its first stream, until its end, and the way to answer. None if it breaks off or has more bytes than `max`.
    pub(crate) async fn accept_stream(&self, max: usize) -> Option<(SendStream, Vec<u8>)> {
        let (send, mut receive) = self.connection.accept_bi().await.ok()?;
        let bytes = receive.read_to_end(STREAM_HEAD_BYTES_MAX + max).await.ok()?;
        let (kind, rest) = number(&bytes)?;
        let (session, rest) = number(rest)?;
        let is_its = kind == STREAM && session == quinn::VarInt::from(self.request.1.id()).into_inner();
        (is_its && rest.len() <= max).then(|| (send, rest.to_vec()))
    }

    /// Waits for its end: a browser closes a session, others close their connection.
    pub(crate) async fn over(&mut self) {
        while let Ok(Some(_)) = self.request.1.read_chunk(usize::MAX, true).await {}
    }
}

/// Says what this side can do. The stream has to stay.
async fn introduce(connection: &Connection) -> Option<SendStream> {
    let settings = Settings::builder()
        .qpack_max_table_capacity(VarInt::from_u32(0))
        .qpack_blocked_streams(VarInt::from_u32(0))
        .enable_connect_protocol()
        .enable_webtransport()
        .enable_h3_datagrams()
        .webtransport_max_sessions(VarInt::from_u32(1))
        .build();
    let mut bytes = Vec::new();
    StreamHeader::new_control().write(&mut bytes).ok()?;
    settings.generate_frame().write(&mut bytes).ok()?;
    let mut control = connection.open_uni().await.ok()?;
    control.write_all(&bytes).await.ok()?;
    Some(control)
}

/// Waits until the peer has said what it can do. These streams have to stay, too.
async fn hear(connection: &Connection) -> Option<Vec<RecvStream>> {
    let mut theirs = Vec::new();
    loop {
        let mut stream = connection.accept_uni().await.ok()?;
        match StreamHeader::read_async(&mut Reader(&mut stream)).await.map(|header| header.kind()) {
            Ok(StreamKind::Control) => {
                let frame = Frame::read_async(&mut Reader(&mut stream)).await.ok()?;
                // Whoever asks for a session can do what is needed.
                matches!(frame.kind(), FrameKind::Settings).then(|| Settings::with_frame(&frame).ok())??;
                theirs.push(stream);
                return Some(theirs);
            }
            Ok(StreamKind::QPackEncoder | StreamKind::QPackDecoder) => theirs.push(stream),
            // Dropping a stream stops it.
            Ok(StreamKind::WebTransport | StreamKind::Exercise(_))
            | Err(IoReadError::Parse(ParseError::UnknownStream)) => {}
            Err(_) => return None,
        }
    }
}

async fn headers(stream: &mut RecvStream) -> Option<Headers> {
    loop {
        let frame = Frame::read_async(&mut Reader(stream)).await.ok()?;
        match frame.kind() {
            FrameKind::Headers => return Headers::with_frame(&frame).ok(),
            // Some send frames without a meaning, so that everybody learns to skip them.
            FrameKind::Exercise(_) => {}
            _ => return None,
        }
    }
}

async fn write(stream: &mut SendStream, headers: &Headers) -> Option<()> {
    let mut bytes = Vec::new();
    headers.generate_frame().write(&mut bytes).ok()?;
    stream.write_all(&bytes).await.ok()
}

/// A stream as the library reads it.
struct Reader<'a>(&'a mut RecvStream);

impl AsyncRead for Reader<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_read(context, buffer).map_err(ReadError::into)
    }
}
