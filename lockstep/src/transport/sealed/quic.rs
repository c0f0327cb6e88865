//! How QUIC is set up for lockstep. The values were found by measurement: `docs/network-measured.md`.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use quinn::congestion::{Controller, ControllerFactory};
use quinn::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig,
    IdleTimeout, ServerConfig, TokioRuntime, TransportConfig, VarInt,
};
use socket2::{Domain, Protocol, Socket, Type};

use super::certificate;
use super::config::{SealedConfig, std_time};

/// Largest UDP payload. Every path of the internet carries it, so nothing has to be found out, and nothing is lost for its size.
const UDP_PAYLOAD_MAX: u16 = 1_200;

/// Assumed round trip until it is measured: a third of the time after which a lost handshake packet is repeated for the first time.
const FIRST_ROUND_TRIP: core::time::Duration = core::time::Duration::from_millis(100);

/// A datagram is acknowledged after so many others or so much time, whichever comes first. Nothing is sent again for want of it.
const ACK_EVERY: u32 = 20;
const ACK_WITHIN: core::time::Duration = core::time::Duration::from_millis(300);

/// Bytes of datagrams that wait in a connection until its task sends them, a moment later. The oldest are dropped beyond it.
const SENDING_BYTES_MAX: usize = 32_768;

/// Bytes of datagrams that have arrived and wait for their task.
const RECEIVED_BYTES_MAX: usize = 65_536;

/// Bytes that one side of a connection may have under way on streams, in all and on one. Only the greeting and HTTP/3 use streams.
const STREAM_BYTES_MAX: u32 = 32_768;

/// Streams that a peer may have open at once: the session and the greeting in both directions, and those of HTTP/3 in one.
const STREAMS_MAX: u32 = 8;

/// Datagrams of connections that have not been accepted yet, and handshakes that wait to be looked at: bytes for each, and in all.
const INCOMING_BYTES_MAX: u64 = 16_384;
const INCOMING_ALL_BYTES_MAX: u64 = 1 << 20;

/// Greatest number of handshakes that wait to be looked at.
const INCOMING_MAX: usize = 256;

/// Bytes of a server's socket in each direction, as far as the system grants them: a system's usual 200 kB are full after some 200 small packets, which
/// a relay's guests may send in the same millisecond.
const SOCKET_BYTES: usize = 4 << 20;

/// A server's socket. The address `[::]` takes both versions of IP.
fn socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    // A system that grants less is no reason not to play.
    let _ = socket.set_recv_buffer_size(SOCKET_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BYTES);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn transport(config: &SealedConfig) -> Arc<TransportConfig> {
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(ACK_EVERY)).max_ack_delay(Some(ACK_WITHIN));
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(IdleTimeout::try_from(std_time(config.idle_timeout)).ok())
        .keep_alive_interval(Some(std_time(config.keep_alive)))
        .congestion_controller_factory(Arc::new(FixedWindow))
        .initial_rtt(FIRST_ROUND_TRIP)
        .initial_mtu(UDP_PAYLOAD_MAX)
        .mtu_discovery_config(None)
        .datagram_send_buffer_size(SENDING_BYTES_MAX)
        .datagram_receive_buffer_size(Some(RECEIVED_BYTES_MAX))
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS_MAX))
        .stream_receive_window(VarInt::from_u32(STREAM_BYTES_MAX))
        .receive_window(VarInt::from_u32(STREAM_BYTES_MAX))
        .send_window(u64::from(STREAM_BYTES_MAX))
        .enable_segmentation_offload(false)
        .ack_frequency_config(Some(acks));
    Arc::new(transport)
}

/// A window that nothing fills: datagrams are never held back. Above `u32::MAX` quinn paces nothing either.
#[derive(Clone, Debug)]
struct FixedWindow;

const WINDOW: u64 = 1 << 33;

impl ControllerFactory for FixedWindow {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
        Box::new(Self)
    }
}

impl Controller for FixedWindow {
    fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, _is_persistent: bool, _lost_bytes: u64) {
    }
    fn on_mtu_update(&mut self, _mtu: u16) {}
    fn window(&self) -> u64 {
        WINDOW
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
    fn initial_window(&self) -> u64 {
        WINDOW
    }
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}

/// A client's socket has one connection, so what arrives there needs no number: 8 bytes less in each packet, as browsers have it.
struct NoNumber;

impl ConnectionIdGenerator for NoNumber {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&[])
    }
    fn cid_len(&self) -> usize {
        0
    }
    fn cid_lifetime(&self) -> Option<core::time::Duration> {
        None
    }
}

/// Half of QUIC's usual length is enough for a server: quinn draws another number when one is taken.
struct ShortNumber {
    /// Its key is the system's randomness, so that nobody on the way can tell which numbers belong together.
    hash: RandomState,
    count: u64,
}

impl ConnectionIdGenerator for ShortNumber {
    fn generate_cid(&mut self) -> ConnectionId {
        self.count += 1;
        ConnectionId::new(&(self.hash.hash_one(self.count) as u32).to_le_bytes())
    }
    fn cid_len(&self) -> usize {
        size_of::<u32>()
    }
    fn cid_lifetime(&self) -> Option<core::time::Duration> {
        None
    }
}

/// A server's side of QUIC with a fresh certificate, and the hash of it.
pub(crate) fn server(config: &SealedConfig, start: SystemTime) -> io::Result<(ServerConfig, [u8; 32])> {
    let (tls, hash) = certificate::server(start)?;
    let mut server = ServerConfig::with_crypto(tls);
    server
        .transport_config(transport(config))
        .max_incoming(INCOMING_MAX)
        .incoming_buffer_size(INCOMING_BYTES_MAX)
        .incoming_buffer_size_total(INCOMING_ALL_BYTES_MAX);
    Ok((server, hash))
}

/// A socket that takes connections. Call it inside of a runtime.
pub(crate) fn listen(address: SocketAddr, server: ServerConfig) -> io::Result<Endpoint> {
    let mut endpoint = EndpointConfig::default();
    endpoint.cid_generator(|| Box::new(ShortNumber { hash: RandomState::new(), count: 0 }));
    Endpoint::new(endpoint, Some(server), socket(address)?, Arc::new(TokioRuntime))
}

/// A socket for a connection to this address, to a server whose certificate has this hash. Call it inside of a runtime.
pub(crate) fn dial(address: SocketAddr, hash: [u8; 32], config: &SealedConfig) -> io::Result<Endpoint> {
    let any: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let mut client = ClientConfig::new(certificate::client(hash)?);
    client.transport_config(transport(config));
    let mut endpoint = EndpointConfig::default();
    endpoint.cid_generator(|| Box::new(NoNumber));
    let socket = UdpSocket::bind((any, 0))?;
    let mut endpoint = Endpoint::new(endpoint, None, socket, Arc::new(TokioRuntime))?;
    endpoint.set_default_client_config(client);
    Ok(endpoint)
}
