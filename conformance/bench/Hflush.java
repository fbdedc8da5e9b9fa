import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Writes 100 bytes and calls hflush, COUNT times on one file of REPLICATION replicas; prints the median and the 99th percentile in microseconds. */
public class Hflush {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("dfs.replication", args[2]);
    byte[] data = new byte[100];
    int count = Integer.parseInt(args[1]);
    long[] nanos = new long[count];
    try (FileSystem fs = FileSystem.get(URI.create(args[0]), conf);
        FSDataOutputStream out = fs.create(new Path("/hflush-" + args[2]))) {
      for (int i = -2000; i < count; i++) { // the first ones warm both ends up
        long start = System.nanoTime();
        out.write(data);
        out.hflush();
        if (i >= 0) nanos[i] = System.nanoTime() - start;
      }
    }
    Arrays.sort(nanos);
    System.out.printf("%.0f | %.0f%n", nanos[count / 2] / 1e3, nanos[count * 99 / 100] / 1e3);
  }
}
