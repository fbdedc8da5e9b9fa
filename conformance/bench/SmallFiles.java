import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Creates, fills (4 KiB) and closes COUNT files one after the other; prints the median and the 99th percentile in ms. */
public class SmallFiles {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", 1);
    byte[] data = new byte[4096];
    int count = Integer.parseInt(args[1]);
    long[] nanos = new long[count];
    try (FileSystem fs = FileSystem.get(URI.create(args[0]), conf)) {
      for (int i = -50; i < count; i++) { // the first fifty warm the JVM up
        long start = System.nanoTime();
        try (FSDataOutputStream out = fs.create(new Path("/small/" + i))) {
          out.write(data);
        }
        if (i >= 0) nanos[i] = System.nanoTime() - start;
      }
    }
    Arrays.sort(nanos);
    System.out.printf("%.2f | %.2f%n", nanos[count / 2] / 1e6, nanos[count * 99 / 100] / 1e6);
  }
}
