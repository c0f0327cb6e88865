//! Every ban of `tests/clippy.toml`, broken once. It has the name of the package whose transport is banned.
#![allow(unused)]

pub mod transport {
    pub mod udp {
        pub struct UdpTransport;
    }
}

mod types {
    use crate::transport::udp::UdpTransport;
    use std::collections::hash_map::RandomState;
    use std::net::TcpListener;
    use std::net::TcpStream;
    use std::net::UdpSocket;
    use std::time::SystemTime;
}

fn functions() {
    std::thread::sleep(std::time::Duration::ZERO);
    std::time::UNIX_EPOCH.elapsed();
}
