//! How far a start has come: what `/startupProgress` and the status page show while the NameNode loads, and afterwards.
//! Source: `StartupProgress.java`, `StartupProgressServlet.java`, Hadoop 3.5.0; output compared with a real one.

use crate::core::Core;
use crate::http::write_json_string;
use parking_lot::Mutex;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Edits between two looks at the clock.
const EDITS_A_LOOK: u64 = 4_096;

/// The phases of a start. Times in milliseconds since it began.
pub struct StartupProgress {
    began: Instant,
    inner: Mutex<Inner>,
    /// Edits applied of the segment that is read.
    edits: AtomicU64,
    /// When it was logged last what the start waits for.
    told: Mutex<Option<Instant>>,
}

/// The log tells this often what a start waits for.
const TELL_EVERY: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Inner {
    image: Phase,
    image_file: PathBuf,
    image_bytes: u64,
    inodes: u64,
    edits: Phase,
    segments: Vec<Segment>,
    checkpoint: Phase,
    safe_mode: Phase,
}

/// An edit segment that was read, or is.
struct Segment {
    file: PathBuf,
    phase: Phase,
    edits: u64,
}

#[derive(Clone, Copy, Default)]
struct Phase {
    began: Option<u64>,
    ended: Option<u64>,
}

impl Phase {
    fn status(&self) -> &'static str {
        match (self.began, self.ended) {
            (_, Some(_)) => "COMPLETE",
            (Some(_), None) => "RUNNING",
            (None, None) => "PENDING",
        }
    }

    fn elapsed(&self, now_ms: u64) -> u64 {
        self.began.map_or(0, |began| self.ended.unwrap_or(now_ms).saturating_sub(began))
    }

    fn begin(&mut self, now_ms: u64) {
        self.began.get_or_insert(now_ms);
    }

    fn end(&mut self, now_ms: u64) {
        self.begin(now_ms);
        self.ended.get_or_insert(now_ms);
    }
}

impl Default for StartupProgress {
    fn default() -> Self {
        StartupProgress {
            began: Instant::now(),
            inner: Mutex::default(),
            edits: AtomicU64::new(0),
            told: Mutex::default(),
        }
    }
}

impl StartupProgress {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub fn loading_image(&self, file: &Path, bytes: u64) {
        let now_ms = self.now_ms();
        let mut inner = self.inner.lock();
        inner.image.begin(now_ms);
        (inner.image_file, inner.image_bytes) = (file.to_path_buf(), bytes);
        tracing::info!("loading {} ({bytes} bytes)", file.display());
    }

    pub fn loaded_image(&self, inodes: u64) {
        let now_ms = self.now_ms();
        let mut inner = self.inner.lock();
        inner.image.end(now_ms);
        inner.inodes = inodes;
    }

    pub fn loading_edits(&self, file: &Path) {
        let now_ms = self.now_ms();
        let mut inner = self.inner.lock();
        inner.edits.begin(now_ms);
        self.end_segment(&mut inner, now_ms);
        let phase = Phase { began: Some(now_ms), ended: None };
        inner.segments.push(Segment { file: file.to_path_buf(), phase, edits: 0 });
    }

    /// One more edit of the segment was applied.
    pub fn applied_edit(&self) {
        let count = self.edits.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(EDITS_A_LOOK)
            && let Some(segment) = self.inner.lock().segments.last_mut()
        {
            segment.edits = count;
        }
    }

    fn end_segment(&self, inner: &mut Inner, now_ms: u64) {
        let count = self.edits.swap(0, Ordering::Relaxed);
        if let Some(segment) = inner.segments.last_mut() {
            segment.edits = count;
            segment.phase.end(now_ms);
        }
    }

    /// All is loaded; from here on DataNodes are waited for.
    pub fn loaded(&self) {
        let now_ms = self.now_ms();
        let mut inner = self.inner.lock();
        self.end_segment(&mut inner, now_ms);
        inner.image.end(now_ms);
        inner.edits.end(now_ms);
        inner.checkpoint.end(now_ms);
        inner.safe_mode.begin(now_ms);
    }

    /// Logs what the start-up safe mode waits for, now and then.
    pub fn tell_waiting(&self, tip: &str) {
        let mut told = self.told.lock();
        if told.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
            *told = Some(Instant::now());
            tracing::info!("Safe mode is ON. {}", tip.replace('\n', " "));
        }
    }

    /// The start-up safe mode is over.
    pub fn left_safe_mode(&self) {
        let now_ms = self.now_ms();
        self.inner.lock().safe_mode.end(now_ms);
    }

    /// In words: what a start that is not over does.
    pub fn doing(&self) -> String {
        let inner = self.inner.lock();
        match inner.segments.last() {
            Some(segment) if inner.edits.ended.is_none() => {
                format!("loading {}, {} edits so far", segment.file.display(), segment.edits)
            }
            _ if inner.image.ended.is_none() && inner.image.began.is_some() => {
                format!("loading {} ({} bytes)", inner.image_file.display(), inner.image_bytes)
            }
            _ => "starting".to_owned(),
        }
    }

    /// The JSON of `/startupProgress`. `core` is there once all is loaded.
    pub fn json(&self, core: Option<&Core>) -> String {
        let (reported, wanted) = core.map_or((0, 0), |core| {
            let info = core.namespace.read().blocks.safe_mode_info();
            (info.safe_blocks, info.threshold_blocks)
        });
        let now_ms = self.now_ms();
        let inner = self.inner.lock();
        let phases = [&inner.image, &inner.edits, &inner.checkpoint, &inner.safe_mode];
        let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { (part as f64 / whole as f64).min(1.0) };
        let of = |phase: &Phase, running: f64| match phase.status() {
            "COMPLETE" => 1.0,
            "RUNNING" => running,
            _ => 0.0,
        };
        let waiting = share(reported, wanted);
        let percents = [of(phases[0], 0.0), of(phases[1], 0.0), of(phases[2], 0.0), of(phases[3], waiting)];
        let total: f64 = percents.iter().sum::<f64>() / 4.0;
        let last =
            phases.iter().filter_map(|phase| phase.ended.or(phase.began.map(|_| now_ms))).max().unwrap_or(now_ms);
        let mut out = format!("{{\"elapsedTime\":{last},\"percentComplete\":{total:?},\"phases\":[");
        let names = [
            ("LoadingFsImage", "Loading fsimage"),
            ("LoadingEdits", "Loading edits"),
            ("SavingCheckpoint", "Saving checkpoint"),
            ("SafeMode", "Safe mode"),
        ];
        for (i, (name, desc)) in names.into_iter().enumerate() {
            let (phase, percent) = (phases[i], percents[i]);
            let (status, elapsed) = (phase.status(), phase.elapsed(now_ms));
            let _ = write!(
                out,
                "{}{{\"name\":\"{name}\",\"desc\":\"{desc}\",\"status\":\"{status}\",\"percentComplete\":{percent:?},\
                 \"elapsedTime\":{elapsed}",
                if i == 0 { "" } else { "," }
            );
            if i == 0 && phase.began.is_some() {
                out.push_str(",\"file\":");
                write_json_string(&mut out, &inner.image_file.display().to_string());
                let _ = write!(out, ",\"size\":{}", inner.image_bytes);
            }
            out.push_str(",\"steps\":[");
            match i {
                0 if phase.began.is_some() => {
                    put_step(&mut out, ("Inodes", "inodes"), inner.inodes, inner.inodes, percent, elapsed);
                }
                1 => put_segments(&mut out, &inner.segments, now_ms),
                3 if phase.began.is_some() => {
                    let step = ("AwaitingReportedBlocks", "awaiting reported blocks");
                    put_step(&mut out, step, reported, wanted, percent, elapsed);
                }
                _ => {}
            }
            out.push_str("]}");
        }
        out.push_str("]}");
        out
    }
}

fn put_step(out: &mut String, names: (&str, &str), count: u64, total: u64, percent: f64, elapsed: u64) {
    let (name, desc) = names;
    let _ = write!(
        out,
        "{{\"name\":\"{name}\",\"desc\":\"{desc}\",\"count\":{count},\"total\":{total},\"percentComplete\":{percent:?},\
         \"elapsedTime\":{elapsed}}}"
    );
}

fn put_segments(out: &mut String, segments: &[Segment], now_ms: u64) {
    for (i, segment) in segments.iter().enumerate() {
        out.push_str(if i == 0 { "{\"name\":" } else { ",{\"name\":" });
        write_json_string(out, &segment.file.display().to_string());
        out.push_str(",\"desc\":");
        write_json_string(out, &segment.file.display().to_string());
        let percent = if segment.phase.ended.is_some() { 1.0 } else { 0.0 };
        let _ = write!(
            out,
            ",\"count\":{0},\"total\":{0},\"percentComplete\":{percent:?},\"elapsedTime\":{1}}}",
            segment.edits,
            segment.phase.elapsed(now_ms)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other() {
        let progress = StartupProgress::default();
        let status = |json: &str| -> Vec<String> {
            json.split("\"status\":\"").skip(1).map(|rest| rest[..rest.find('"').unwrap()].to_owned()).collect()
        };
        assert_eq!(status(&progress.json(None)), ["PENDING"; 4]);
        progress.loading_image(Path::new("/n/fsimage_7"), 400);
        assert_eq!(status(&progress.json(None)), ["RUNNING", "PENDING", "PENDING", "PENDING"]);
        assert_eq!(progress.doing(), "loading /n/fsimage_7 (400 bytes)");
        progress.loaded_image(3);
        progress.loading_edits(Path::new("/n/edits_8-9"));
        (0..EDITS_A_LOOK).for_each(|_| progress.applied_edit());
        assert_eq!(progress.doing(), "loading /n/edits_8-9, 4096 edits so far");
        progress.loaded();
        let json = progress.json(None);
        assert_eq!(status(&json), ["COMPLETE", "COMPLETE", "COMPLETE", "RUNNING"]);
        assert!(json.contains(
            "\"file\":\"/n/fsimage_7\",\"size\":400,\"steps\":[{\"name\":\"Inodes\",\"desc\":\"inodes\",\"count\":3"
        ));
        progress.left_safe_mode();
        assert!(progress.json(None).contains("\"percentComplete\":1.0,\"phases\""));
    }
}
