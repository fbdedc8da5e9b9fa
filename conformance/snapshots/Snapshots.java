// Random operations with snapshots from a seed, then everything that a client can see, as text: run against two servers,
// the texts must be equal. Needs no DataNode: files are empty.
// usage: Snapshots hdfs://host:port SEED SEQUENCES OPERATIONS; 0 operations: only what there is
import java.net.URI;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.*;

public class Snapshots {
  static DistributedFileSystem fs;
  static Random random;
  static String base;

  static Path path() {
    StringBuilder p = new StringBuilder(base + "/" + pick("r1", "r2", "r1", "r2", "p"));
    for (int i = 1 + random.nextInt(3); i > 0; i--) p.append("/").append(pick("a", "b", "c"));
    return new Path(p.toString());
  }
  static Path root() { return new Path(base + "/" + pick("r1", "r2", "r1", "r2", "r1/a")); }
  static String pick(String... of) { return of[random.nextInt(of.length)]; }

  static String step() throws Exception {
    Path a = path(), b = path(), r = root();
    String s = pick("s1", "s2", "s3", "s4"), t = pick("s1", "s2", "s3", "s4");
    int mode = random.nextInt(0777 + 1), what = random.nextInt(40);
    try {
      if (what < 5) return "mkdirs " + a + " " + fs.mkdirs(a);
      if (what < 11) { fs.create(a, random.nextBoolean()).close(); return "create " + a; }
      if (what < 16) return "delete " + a + " " + fs.delete(a, true);
      if (what < 24) return "rename " + a + " " + b + " " + fs.rename(a, b);
      if (what < 27) { fs.rename(a, b, Options.Rename.OVERWRITE); return "rename2 " + a + " " + b; }
      if (what < 28) { fs.setPermission(a, new FsPermission((short) (mode | 0700))); return "chmod " + a; }
      if (what < 29) { fs.setOwner(a, "u" + mode % 3, null); return "chown " + a; }
      if (what < 30) return "setrep " + a + " " + fs.setReplication(a, (short) (1 + mode % 3));
      if (what < 32) { fs.allowSnapshot(r); return "allow " + r; }
      if (what < 33) { fs.disallowSnapshot(r); return "disallow " + r; }
      if (what < 37) return "snapshot " + fs.createSnapshot(r, s);
      if (what < 38) { fs.renameSnapshot(r, s, t); return "rename snapshot " + r + " " + s + " " + t; }
      fs.deleteSnapshot(r, s);
      return "delete snapshot " + r + " " + s;
    } catch (Exception e) {
      return what + " " + a + " " + b + " " + r + " " + s + ": " + e.getClass().getSimpleName() + " "
          + String.valueOf(e.getMessage()).split("\n")[0];
    }
  }

  static void list(Path p, StringBuilder out) throws Exception {
    for (FileStatus f : fs.listStatus(p)) {
      HdfsFileStatus h = (HdfsFileStatus) f;
      out.append(f.getPath().toUri().getPath()).append(f.isDirectory() ? " d " : " f ").append(f.getPermission())
          .append(' ').append(f.getOwner()).append(':').append(f.getGroup()).append(" x").append(f.getReplication())
          .append(' ').append(f.getLen()).append(" children ").append(h.getChildrenNum()).append('\n');
      if (f.isDirectory()) list(f.getPath(), out);
    }
  }

  static void report(Path r, String from, String to, StringBuilder out) {
    try {
      SnapshotDiffReport d = fs.getSnapshotDiffReport(r, from, to);
      out.append("diff ").append(r.toUri().getPath()).append(' ').append(from).append(' ').append(to).append('\n');
      for (SnapshotDiffReport.DiffReportEntry e : d.getDiffList()) out.append("  ").append(e).append('\n');
    } catch (Exception e) {
      out.append("diff ").append(r.toUri().getPath()).append(' ').append(from).append(' ').append(to).append(' ')
          .append(e.getClass().getSimpleName()).append(' ').append(String.valueOf(e.getMessage()).split("\n")[0]).append('\n');
    }
  }

  /** Sets quotas that nothing exceeds, or tells what is used of them. */
  static void quotas(boolean set, StringBuilder out) throws Exception {
    for (String d : new String[] {"/r1", "/r2", "/p", ""}) {
      Path p = new Path(base + d);
      if (set) {
        fs.setQuota(p, HdfsConstants.QUOTA_RESET, HdfsConstants.QUOTA_RESET);
        fs.setQuota(p, 1000, 1000000);
      }
      if (out == null) continue;
      QuotaUsage u = fs.getQuotaUsage(p);
      out.append("quota ").append(p).append(' ').append(u.getFileAndDirectoryCount()).append(' ').append(u.getSpaceConsumed()).append('\n');
    }
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    fs = (DistributedFileSystem) FileSystem.get(URI.create(args[0]), conf);
    for (int sequence = 0; sequence < Integer.parseInt(args[2]); sequence++) {
      random = new Random(Long.parseLong(args[1]) + sequence);
      base = "/t" + sequence;
      StringBuilder out = new StringBuilder("== " + base + "\n");
      int operations = Integer.parseInt(args[3]);
      if (operations > 0) {
        for (String d : new String[] {"r1", "r2", "p"}) fs.mkdirs(new Path(base + "/" + d));
        fs.allowSnapshot(new Path(base + "/r1"));
        fs.allowSnapshot(new Path(base + "/r2"));
      }
      quotas(operations > 0, null);
      for (int i = 0; i < operations; i++) out.append(i).append(' ').append(step()).append('\n');
      list(new Path(base), out);
      SnapshottableDirectoryStatus[] roots = fs.getSnapshottableDirListing();
      for (SnapshottableDirectoryStatus s : roots == null ? new SnapshottableDirectoryStatus[0] : roots) {
        Path r = s.getFullPath();
        if (!r.toString().startsWith(base + "/")) continue;
        out.append("snapshottable ").append(r).append(' ').append(s.getSnapshotNumber()).append(' ')
            .append(s.getSnapshotQuota()).append(' ').append(s.getDirStatus().getPermission()).append('\n');
        List<String> names = new ArrayList<>();
        for (SnapshotStatus n : fs.getSnapshotListing(r)) {
          names.add(n.getDirStatus().getLocalName());
          out.append("  ").append(n.getFullPath()).append(' ').append(n.isDeleted()).append('\n');
        }
        list(new Path(r, ".snapshot"), out);
        for (String from : names) {
          for (String to : names) if (!from.equals(to)) report(r, from, to, out);
          report(r, from, "", out);
          report(r, "", from, out);
        }
      }
      // What Hadoop counts up step by step goes astray after some renames; for a new quota it counts anew.
      quotas(true, null);
      quotas(false, out);
      ContentSummary c = fs.getContentSummary(new Path(base));
      out.append("summary ").append(c.getFileCount()).append(' ').append(c.getDirectoryCount()).append(" snapshot ")
          .append(c.getSnapshotFileCount()).append(' ').append(c.getSnapshotDirectoryCount()).append('\n');
      System.out.print(out);
    }
  }
}
