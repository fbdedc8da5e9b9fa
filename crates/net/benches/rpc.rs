//! CPU time of the server per call, by kind of client: one caller, many callers on one connection (as
//! NNThroughputBenchmark does), and one connection that keeps many calls in flight.
//!
//! `cargo bench -p surus-net --bench rpc`. CPU time is that of the server's runtime threads.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use surus_net::rpc::{HeldReply, NullService, ReadyReply, Reply, RpcCall, RpcClient, RpcClientOptions, RpcLimits};
use surus_net::rpc::{RpcServer, RpcService, send_together};
use surus_proto::hadoop::hdfs::GetFileInfoRequestProto;
use surus_wire::rpc::client::{RequestIds, put_call, put_context, put_preamble};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
/// Threads whose CPU time counts; a number follows, so that each measurement sees its own.
const THREAD_NAME: &str = "server-";

/// Holds every reply; another thread answers all there are from time to time, as the journal's commits do.
#[derive(Default)]
struct Committed {
    held: parking_lot::Mutex<Vec<HeldReply>>,
}

impl RpcService for Committed {
    fn call(&self, _call: RpcCall<'_>, reply: Reply<'_>) {
        self.held.lock().push(reply.hold());
    }
}

fn main() {
    let seconds = std::env::var("BENCH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.2);
    let time = Duration::from_secs_f64(seconds);
    println!("{:<42} {:>10} {:>14}", "", "calls/s", "server us/call");
    for threads in [1, 32] {
        measure(&format!("{threads} callers, one connection"), Arc::new(NullService), |addr| {
            callers(addr, threads, time)
        });
    }
    for depth in [1, 32, 1000] {
        measure(&format!("{depth} calls in flight"), Arc::new(NullService), |addr| pipelined(addr, depth, time));
    }
    let service = Arc::new(Committed::default());
    measure("32 callers, replies held 100 us", service.clone(), |addr| {
        with_committer(&service, || callers(addr, 32, time))
    });
}

/// Runs `load` while a thread answers what is held.
fn with_committer(service: &Committed, load: impl FnOnce() -> u64) -> u64 {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let committer = || {
            while !stop.load(Ordering::Relaxed) {
                let held = std::mem::take(&mut *service.held.lock());
                send_together(held.into_iter().map(|reply| reply.ready_ok(&())).collect::<Vec<ReadyReply>>());
                std::thread::sleep(Duration::from_micros(100));
            }
        };
        let name = format!("{THREAD_NAME}{}", MEASUREMENT.load(Ordering::Relaxed));
        std::thread::Builder::new().name(name).spawn_scoped(scope, committer).expect("a thread");
        let calls = load();
        stop.store(true, Ordering::Relaxed);
        calls
    })
}

static MEASUREMENT: AtomicU32 = AtomicU32::new(0);

fn measure(name: &str, service: Arc<dyn RpcService>, load: impl FnOnce(&str) -> u64) {
    let thread_name = format!("{THREAD_NAME}{}", 1 + MEASUREMENT.fetch_add(1, Ordering::Relaxed));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name(&thread_name)
        .enable_all()
        .build()
        .expect("a runtime");
    let server = RpcServer::bind("127.0.0.1:0", service, RpcLimits::default(), runtime.handle()).expect("a free port");
    let started = Instant::now();
    let calls = load(&server.local_addr().to_string());
    let (cpu, elapsed) = (cpu_time(&thread_name), started.elapsed());
    let rate = calls as f64 / elapsed.as_secs_f64();
    println!("{name:<42} {rate:>10.0} {:>14.2}", cpu.as_secs_f64() * 1e6 / calls as f64);
    drop(server);
    runtime.shutdown_background();
}

/// CPU time so far of the threads with this name that are alive.
fn cpu_time(thread_name: &str) -> Duration {
    let mut nanos = 0;
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let read = |file| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        if read("comm").trim() == thread_name {
            nanos += read("schedstat").split(' ').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    Duration::from_nanos(nanos)
}

fn callers(addr: &str, threads: usize, time: Duration) -> u64 {
    let client = RpcClient::connect(addr, "alice", PROTOCOL, RpcClientOptions::default()).expect("a connection");
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let request = GetFileInfoRequestProto { src: "/user/alice/some/file".to_owned() };
                    let mut calls = 0;
                    while started.elapsed() < time {
                        let () = client.call("getFileInfo", &request).expect("an answer");
                        calls += 1;
                    }
                    calls
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
    })
}

/// Sends `depth` calls at once and reads all their answers, again and again.
fn pipelined(addr: &str, depth: i32, time: Duration) -> u64 {
    let mut stream = TcpStream::connect(addr).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let mut greeting = Vec::new();
    put_preamble(&mut greeting, false);
    put_context(&mut greeting, &[7; 16], "alice", None, PROTOCOL);
    stream.write_all(&greeting).expect("a connection");
    let request = GetFileInfoRequestProto { src: "/user/alice/some/file".to_owned() };
    let mut batch = Vec::new();
    for call_id in 0..depth {
        let ids = RequestIds { call_id: call_id % 100, client_id: [7; 16], retry_count: 0 };
        put_call(&mut batch, &ids, "", PROTOCOL, "getFileInfo", &request);
    }
    // Length, header of 28 bytes with its length, empty message with its length.
    let mut answers = vec![0; depth as usize * 32];
    let (started, mut calls) = (Instant::now(), 0);
    while started.elapsed() < time {
        stream.write_all(&batch).expect("a connection");
        stream.read_exact(&mut answers).expect("answers");
        calls += depth as u64;
    }
    calls
}
