// A mixed load from a seed, and what DFSInotifyEventInputStream tells of it, as text without transaction ids and times: run
// against two servers, the texts must be equal. Needs a DataNode.
// usage: Inotify hdfs://host:port SEED OPERATIONS
import java.net.URI;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.*;
import org.apache.hadoop.hdfs.DFSInotifyEventInputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsAdmin;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.inotify.*;

public class Inotify {
  static DistributedFileSystem fs;
  static Random random;

  static String pick(String... of) { return of[random.nextInt(of.length)]; }
  static Path path() {
    StringBuilder p = new StringBuilder("/load");
    for (int i = 1 + random.nextInt(3); i > 0; i--) p.append("/").append(pick("a", "b", "c"));
    return new Path(p.toString());
  }
  static void write(FSDataOutputStream out, int bytes) throws Exception { out.write(new byte[bytes]); out.close(); }

  // Everything that gives an event once, in a known order; then what gives none.
  static void known() throws Exception {
    Path d = new Path("/known"), f = new Path(d, "f"), g = new Path(d, "g"), h = new Path(d, "h");
    fs.mkdirs(d, new FsPermission((short) 0751));
    write(fs.create(f, FsPermission.getFileDefault(), true, 4096, (short) 1, 1024, null), 2500);
    write(fs.create(f, true), 10);
    write(fs.append(f), 5);
    try (HdfsDataOutputStream out = (HdfsDataOutputStream) fs.append(f)) {
      out.write(7); out.hsync(EnumSet.of(HdfsDataOutputStream.SyncFlag.UPDATE_LENGTH)); out.write(8);
    }
    write(fs.append(f, EnumSet.of(CreateFlag.APPEND, CreateFlag.NEW_BLOCK), 4096, null), 3);
    fs.setReplication(f, (short) 2);
    fs.setOwner(f, "someone", null); fs.setOwner(f, null, "some"); fs.setOwner(d, "u", "g");
    fs.setPermission(f, new FsPermission((short) 0640));
    fs.setTimes(f, 1000, -1); fs.setTimes(f, -1, 2000); fs.setTimes(d, 3000, 4000);
    fs.setAcl(d, AclEntry.parseAclSpec("user::rwx,group::r-x,other::---,user:x:rw-,default:user::rwx,default:group::---,default:other::---", true));
    fs.modifyAclEntries(f, AclEntry.parseAclSpec("user:y:r--", true));
    fs.removeAclEntries(f, AclEntry.parseAclSpec("user:y", false));
    fs.removeDefaultAcl(d); fs.removeAcl(d);
    fs.setXAttr(f, "user.a", new byte[] {1, 2}); fs.setXAttr(f, "user.a", new byte[] {3}, EnumSet.of(XAttrSetFlag.REPLACE));
    fs.removeXAttr(f, "user.a");
    fs.rename(f, g);
    write(fs.create(h), 20); fs.rename(g, h, Options.Rename.OVERWRITE);
    write(fs.create(new Path(d, "p1"), FsPermission.getFileDefault(), true, 4096, (short) 1, 1024, null), 1024);
    write(fs.create(new Path(d, "p2"), FsPermission.getFileDefault(), true, 4096, (short) 1, 1024, null), 1024);
    fs.concat(new Path(d, "p1"), new Path[] {new Path(d, "p2")});
    fs.truncate(new Path(d, "p1"), 1024);
    if (!fs.truncate(new Path(d, "p1"), 500)) {
      for (int i = 0; i < 300 && !fs.isFileClosed(new Path(d, "p1")); i++) Thread.sleep(100);
    }
    fs.setStoragePolicy(d, "HOT"); fs.setQuota(d, 1000, 1 << 30);
    fs.allowSnapshot(d); fs.createSnapshot(d, "s"); fs.renameSnapshot(d, "s", "t"); fs.deleteSnapshot(d, "t"); fs.disallowSnapshot(d);
    fs.mkdirs(new Path(d, "deep/er")); fs.delete(new Path(d, "deep"), true); fs.delete(h, false);
  }

  static void step() throws Exception {
    Path a = path(), b = path();
    int what = random.nextInt(30), n = random.nextInt(3000);
    try {
      if (what < 5) fs.mkdirs(a);
      else if (what < 12) write(fs.create(a, FsPermission.getFileDefault(), random.nextBoolean(), 4096, (short) 1, 1024, null), n);
      else if (what < 15) fs.delete(a, true);
      else if (what < 19) fs.rename(a, b);
      else if (what < 20) fs.rename(a, b, Options.Rename.OVERWRITE);
      else if (what < 23) write(fs.append(a), n);
      else if (what < 24) fs.setPermission(a, new FsPermission((short) (n % 01000 | 0700)));
      else if (what < 25) fs.setOwner(a, "u" + n % 3, null);
      else if (what < 26) fs.setReplication(a, (short) (1 + n % 3));
      else if (what < 27) fs.setTimes(a, n, n);
      else if (what < 28) fs.setXAttr(a, "user.x" + n % 3, new byte[n % 5]);
      else if (what < 29) fs.modifyAclEntries(a, AclEntry.parseAclSpec("user:u" + n % 3 + ":r-x", true));
      else fs.removeXAttr(a, "user.x" + n % 3);
    } catch (java.io.IOException e) {
      // Refused on both sides, or one of them shows other events.
    }
  }

  static String text(Event e) {
    if (e instanceof Event.CreateEvent) {
      Event.CreateEvent c = (Event.CreateEvent) e;
      return c.getiNodeType() + " " + c.getPath() + " " + c.getOwnerName() + ":" + c.getGroupName() + " " + c.getPerms() + " x" + c.getReplication()
          + " link " + c.getSymlinkTarget() + " overwrite " + c.getOverwrite() + " block " + c.getDefaultBlockSize() + " ec " + c.isErasureCoded();
    }
    if (e instanceof Event.CloseEvent) return ((Event.CloseEvent) e).getPath() + " " + ((Event.CloseEvent) e).getFileSize();
    if (e instanceof Event.AppendEvent) return ((Event.AppendEvent) e).getPath() + " new block " + ((Event.AppendEvent) e).toNewBlock();
    if (e instanceof Event.RenameEvent) return ((Event.RenameEvent) e).getSrcPath() + " " + ((Event.RenameEvent) e).getDstPath();
    if (e instanceof Event.UnlinkEvent) return ((Event.UnlinkEvent) e).getPath();
    if (e instanceof Event.TruncateEvent) return ((Event.TruncateEvent) e).getPath() + " " + ((Event.TruncateEvent) e).getFileSize();
    Event.MetadataUpdateEvent m = (Event.MetadataUpdateEvent) e;
    // Times that the load set are small.
    String times = (m.getMtime() < 1_000_000 ? "" + m.getMtime() : "now") + " " + (m.getAtime() < 1_000_000 ? "" + m.getAtime() : "now");
    StringBuilder xattrs = new StringBuilder();
    if (m.getxAttrs() != null) for (XAttr x : m.getxAttrs()) xattrs.append(x.getNameSpace()).append('.').append(x.getName()).append('=').append(Arrays.toString(x.getValue()));
    return m.getPath() + " " + m.getMetadataType() + " " + times + " x" + m.getReplication() + " " + m.getOwnerName() + ":" + m.getGroupName() + " "
        + m.getPerms() + " " + m.getAcls() + " xattrs " + xattrs + " removed " + m.isxAttrsRemoved();
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    URI uri = URI.create(args[0]);
    conf.set("dfs.replication", "1");
    fs = (DistributedFileSystem) FileSystem.get(uri, conf);
    random = new Random(Long.parseLong(args[1]));
    HdfsAdmin admin = new HdfsAdmin(uri, conf);
    long before = fs.getClient().getNamenode().getCurrentEditLogTxid();
    DFSInotifyEventInputStream live = admin.getInotifyEventStream();
    known();
    for (int i = Integer.parseInt(args[2]); i > 0; i--) step();
    StringBuilder all = read(admin.getInotifyEventStream(before), true);
    System.out.print(all);
    // The stream that was open from the start tells the same: by polling with a limit.
    String same = read(live, false).toString().equals(all.toString()) ? "the same" : "something else";
    System.out.println("a stream opened before tells " + same);
  }

  static StringBuilder read(DFSInotifyEventInputStream stream, boolean waits) throws Exception {
    StringBuilder out = new StringBuilder();
    long last = -1;
    EventBatch batch;
    while ((batch = waits ? stream.poll(2, java.util.concurrent.TimeUnit.SECONDS) : stream.poll()) != null) {
      if (batch.getTxid() <= last) out.append("not in order\n");
      last = batch.getTxid();
      for (Event e : batch.getEvents()) out.append(e.getEventType()).append(' ').append(text(e)).append('\n');
      out.append("--\n");
    }
    if (stream.getTxidsBehindEstimate() > 0) out.append("left behind\n");
    return out;
  }
}
