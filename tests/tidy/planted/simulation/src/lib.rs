//! Every ban of the `clippy.toml` in the root, broken once. `bans.rs` in tests/tidy compares what clippy finds with that list.
#![allow(unused)]
#![deny(clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]

mod alike;

mod types {
    type F32 = f32;
    type F64 = f64;
    use std::time::Instant;
    use std::time::SystemTime;
    use std::collections::HashMap;
    use std::collections::HashSet;
    use std::collections::hash_map::DefaultHasher;
    use std::collections::hash_map::RandomState;
    use std::sync::Barrier;
    use std::sync::Condvar;
    use std::sync::LazyLock;
    use std::sync::Mutex;
    use std::sync::Once;
    use std::sync::OnceLock;
    use std::sync::RwLock;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::AtomicI8;
    use std::sync::atomic::AtomicI16;
    use std::sync::atomic::AtomicI32;
    use std::sync::atomic::AtomicI64;
    use std::sync::atomic::AtomicIsize;
    use std::sync::atomic::AtomicPtr;
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::AtomicU16;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::Receiver;
    use std::sync::mpsc::Sender;
    use std::thread::Builder;
    use std::thread::JoinHandle;
    use std::thread::Scope;
    use std::fs::File;
    use std::fs::OpenOptions;
    use std::io::Stderr;
    use std::io::Stdin;
    use std::io::Stdout;
    use std::net::TcpListener;
    use std::net::TcpStream;
    use std::net::UdpSocket;
    use std::process::Child;
    use std::process::Command;
}

mod functions {
    fn clock() {
        let start = std::time::Instant::now();
        start.elapsed();
        std::time::SystemTime::now();
        std::time::UNIX_EPOCH.elapsed();
    }

    fn threads() {
        std::thread::spawn(|| {});
        std::thread::scope(|_| {});
        std::thread::sleep(std::time::Duration::ZERO);
        std::thread::yield_now();
        std::thread::park();
        std::thread::current();
        std::thread::available_parallelism();
    }

    fn environment() {
        std::env::var("");
        std::env::var_os("");
        std::env::vars();
        std::env::vars_os();
        std::env::args();
        std::env::args_os();
        std::env::current_dir();
        std::env::current_exe();
        std::env::temp_dir();
        std::env::home_dir();
    }

    fn files() {
        std::fs::read("");
        std::fs::read_to_string("");
        std::fs::write("", "");
        std::fs::read_dir("");
        std::fs::metadata("");
        std::fs::copy("", "");
        std::fs::rename("", "");
        std::fs::remove_file("");
        std::fs::remove_dir("");
        std::fs::remove_dir_all("");
        std::fs::create_dir("");
        std::fs::create_dir_all("");
        std::fs::canonicalize("");
        std::fs::exists("");
    }

    fn process() {
        std::io::stdin();
        std::io::stdout();
        std::io::stderr();
        std::process::id();
        std::process::abort();
    }

    fn end() {
        std::process::exit(0);
    }

    fn bytes() {
        u16::to_ne_bytes(0);
        u32::to_ne_bytes(0);
        u64::to_ne_bytes(0);
        u128::to_ne_bytes(0);
        usize::to_ne_bytes(0);
        i16::to_ne_bytes(0);
        i32::to_ne_bytes(0);
        i64::to_ne_bytes(0);
        i128::to_ne_bytes(0);
        isize::to_ne_bytes(0);
        u16::from_ne_bytes([0; 2]);
        u32::from_ne_bytes([0; 4]);
        u64::from_ne_bytes([0; 8]);
        u128::from_ne_bytes([0; 16]);
        usize::from_ne_bytes([0; size_of::<usize>()]);
        i16::from_ne_bytes([0; 2]);
        i32::from_ne_bytes([0; 4]);
        i64::from_ne_bytes([0; 8]);
        i128::from_ne_bytes([0; 16]);
        isize::from_ne_bytes([0; size_of::<usize>()]);
        let sign: i32 = unsafe { std::mem::transmute(0_u32) };
    }

    fn names() {
        std::any::type_name::<u8>();
        std::any::type_name_of_val(&0);
    }
}

mod macros {
    fn arithmetic() {
        let half = 0.25 + 0.25;
        println!("to standard output");
        eprintln!("to standard error");
    }

    std::thread_local!(static OWN: u8 = const { 0 });
}
