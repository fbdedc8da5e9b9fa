// Trash roots of snapshottable directories and ordered deletion, as text without times: run against two servers with
// dfs.namenode.snapshot.trashroot.enabled and dfs.namenode.snapshot.deletion.ordered, the texts must be equal.
// usage: TrashRoots hdfs://host:port webhdfs://host:port first|second      second: after a restart of the NameNode
import java.net.URI;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsAdmin;
import org.apache.hadoop.hdfs.protocol.SnapshotStatus;

public class TrashRoots {
  interface Call { Object run() throws Exception; }
  static DistributedFileSystem fs;

  static void show(String what, Call call) {
    String text;
    try {
      text = String.valueOf(call.run());
    } catch (Exception e) {
      Throwable cause = e instanceof org.apache.hadoop.ipc.RemoteException ? ((org.apache.hadoop.ipc.RemoteException) e).unwrapRemoteException() : e;
      text = cause.getClass().getName() + " " + String.valueOf(cause.getMessage()).split("\n")[0];
    }
    System.out.println(what + ": " + text.replace(fs.getUri().toString(), "").replaceAll("webhdfs://[0-9.:]*", "").replaceAll("/2[0-9]{11}(-[0-9]+)?", "/TIME"));
  }
  static String tree(Path top) throws Exception {
    StringBuilder out = new StringBuilder();
    RemoteIterator<FileStatus> all = fs.listStatusIterator(top);
    while (all.hasNext()) {
      FileStatus f = all.next();
      out.append('\n').append(f.getPath()).append(' ').append(f.getPermission()).append(' ').append(f.getOwner()).append(':').append(f.getGroup());
      if (f.isDirectory()) out.append(tree(f.getPath()));
    }
    return out.toString();
  }
  static Object roots(FileSystem of, boolean all) {
    List<String> paths = new ArrayList<>();
    for (FileStatus f : of.getTrashRoots(all)) paths.add(f.getPath() + " " + f.getPermission());
    Collections.sort(paths);
    return paths;
  }
  static Object listing(Path of) throws Exception {
    StringBuilder out = new StringBuilder();
    for (SnapshotStatus s : fs.getSnapshotListing(of)) out.append(s.getFullPath().getName()).append(' ').append(s.getSnapshotID()).append(' ').append(s.isDeleted()).append(", ");
    return out;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    URI uri = URI.create(args[0]);
    fs = (DistributedFileSystem) FileSystem.get(uri, conf);
    FileSystem web = FileSystem.get(URI.create(args[1]), conf);
    HdfsAdmin admin = new HdfsAdmin(uri, conf);
    Path s = new Path("/s"), late = new Path("/late"), o = new Path("/o");
    Path[] paths = new Path[12];
    int n = 0;
    for (String p : "/ /s /s/f /s/d /s/d/f /s/missing/f /p /p/f /late/f /missing/x /s/.Trash /sx".split(" ")) paths[n++] = new Path(p);
    if (args[2].equals("first")) {
      for (String d : "/s/d /p /late /sx /o /user".split(" ")) fs.mkdirs(new Path(d));
      for (Path f : new Path[] {new Path("/s/f"), new Path("/s/d/f"), new Path("/p/f"), new Path("/late/f"), new Path("/o/f")}) fs.create(f).close();
      show("trash roots enabled", () -> fs.isSnapshotTrashRootEnabled());
      show("plain allowSnapshot makes none", () -> { fs.allowSnapshot(late); return tree(late); });
      show("admin allowSnapshot", () -> { admin.allowSnapshot(s); return tree(s); });
      show("admin allowSnapshot again", () -> { admin.allowSnapshot(s); return "done"; });
      show("provision again", () -> fs.provisionSnapshotTrash(s, new FsPermission((short) 01777)));
      show("provision elsewhere", () -> fs.provisionSnapshotTrash(new Path("/p"), new FsPermission((short) 01777)));
      show("provision below", () -> fs.provisionSnapshotTrash(new Path("/s/d"), new FsPermission((short) 01777)));
    }
    for (Path p : paths) {
      show("root of " + p, () -> fs.getTrashRoot(p));
      // Over HTTP Hadoop takes every path whose text begins as the directory's, its own and that of /sx, for one in it.
      if (!p.toString().equals("/s") && !p.toString().equals("/sx")) show("root over HTTP of " + p, () -> web.getTrashRoot(p));
      show("enclosing root of " + p, () -> fs.getEnclosingRoot(p));
      show("enclosing root over HTTP of " + p, () -> web.getEnclosingRoot(p));
    }
    if (args[2].equals("first")) {
      show("move", () -> Trash.moveToAppropriateTrash(fs, new Path("/s/d/f"), conf) + tree(s));
      show("move a directory", () -> Trash.moveToAppropriateTrash(fs, new Path("/s/d"), conf));
      show("move from elsewhere", () -> Trash.moveToAppropriateTrash(fs, new Path("/p/f"), conf));
      show("rename out of the root", () -> fs.rename(new Path("/s/f"), new Path("/p/f")));
      show("rename within", () -> fs.rename(new Path("/s/f"), new Path("/s/g")));
      show("rename2 out of the root", () -> { fs.rename(new Path("/s/g"), new Path("/p/g"), Options.Rename.NONE); return "done"; });
      show("rename into the root", () -> fs.rename(new Path("/p"), new Path("/s/p")));
      show("roots", () -> roots(fs, false));
      show("roots of all", () -> roots(fs, true));
      show("roots over HTTP", () -> roots(web, false));
      show("roots of all over HTTP", () -> roots(web, true));
      show("disallow with content", () -> { admin.disallowSnapshot(s); return "done"; });
      show("plain disallow with content", () -> { fs.disallowSnapshot(s); return "done"; });
      show("expunge", () -> { new Trash(fs, conf).expungeImmediately(); return tree(s); });
      show("disallow after that", () -> { admin.disallowSnapshot(s); return tree(s); });
      show("allow once more", () -> { admin.allowSnapshot(s); fs.delete(new Path("/s/.Trash"), true); return tree(s); });
      // Ordered deletion.
      fs.allowSnapshot(o);
      for (String name : "a b c d".split(" ")) { fs.createSnapshot(o, name); fs.create(new Path(o, "after-" + name)).close(); }
      show("delete c", () -> { fs.deleteSnapshot(o, "c"); return listing(o); });
      show("delete c again", () -> { fs.deleteSnapshot(o, "c"); return listing(o); });
      show("delete c#2", () -> { fs.deleteSnapshot(o, "c#2"); return listing(o); });
      show("delete an empty name", () -> { fs.deleteSnapshot(o, ""); return listing(o); });
      show("the name is free", () -> { fs.createSnapshot(o, "c"); fs.renameSnapshot(o, "c", "x#1"); return listing(o); });
      // Hadoop has marked it by then, in memory alone: what happens to it later is not compared.
      Path q = new Path("/q");
      fs.mkdirs(q); fs.allowSnapshot(q);
      for (String name : new String[] {"a", "b"}) fs.createSnapshot(q, name);
      fs.createSnapshot(q, "b#" + fs.getSnapshotListing(q)[1].getSnapshotID());
      show("marked name taken", () -> { fs.deleteSnapshot(q, "b"); return "done"; });
      show("read the marked", () -> tree(new Path(o, ".snapshot/c#2#2")));
      show("list them", () -> { List<String> names = new ArrayList<>(); for (FileStatus f : fs.listStatus(new Path(o, ".snapshot"))) names.add(f.getPath().getName()); return names; });
      show("differences", () -> fs.getSnapshotDiffReport(o, "a", "c#2#2").toString());
      show("differences after", () -> fs.getSnapshotDiffReport(o, "c#2#2", "d").toString());
      show("attributes", () -> fs.getXAttrs(new Path(o, ".snapshot/c#2#2")));
      show("disallow", () -> { fs.disallowSnapshot(o); return "done"; });
      show("delete the oldest", () -> { fs.deleteSnapshot(o, "a"); return listing(o); });
      show("delete the directory", () -> fs.delete(o, true));
    } else {
      show("provisioned at the start", () -> tree(s) + tree(late));
      show("snapshots", () -> listing(o));
      show("delete what is the oldest now", () -> { fs.deleteSnapshot(o, "b"); return "done"; });
      // The collector takes the marked one, then stops at one that is not marked.
      for (int i = 0; i < 100 && listing(o).toString().contains("true"); i++) Thread.sleep(100);
      show("collected", () -> listing(o));
      show("the tree", () -> tree(o));
      show("counts", () -> fs.getContentSummary(o).toString(false, false));
    }
  }
}
