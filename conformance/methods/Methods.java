import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.PrivilegedExceptionAction;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB;
import org.apache.hadoop.ipc.*;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.*;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.FieldDescriptor;

/**
 * Calls the protobuf stubs of a NameNode's protocols with requests written as text, below every client library:
 * Methods HOST:PORT CASES OUT. One row for each call: number, user, method, request, exception class or "-", message or answer.
 */
public class Methods {
  static final String CLIENT = "org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB";
  /** Protocols by the word before a method's dot; without a dot it is ClientProtocol. */
  static final Map<String, String> PROTOCOLS = Map.of("nn", "org.apache.hadoop.hdfs.protocolPB.NamenodeProtocolPB", "reconf", "org.apache.hadoop.hdfs.protocolPB.ReconfigurationProtocolPB",
    "refresh", "org.apache.hadoop.ipc.protocolPB.GenericRefreshProtocolPB", "acl", "org.apache.hadoop.security.protocolPB.RefreshAuthorizationPolicyProtocolPB", "queue", "org.apache.hadoop.ipc.protocolPB.RefreshCallQueueProtocolPB",
    "users", "org.apache.hadoop.security.protocolPB.RefreshUserMappingsProtocolPB", "groups", "org.apache.hadoop.tools.protocolPB.GetUserMappingsProtocolPB", "ha", "org.apache.hadoop.ha.protocolPB.HAServiceProtocolPB");
  /** What no two runs have in common. */
  static final Set<String> VOLATILE = Set.of("modification_time", "access_time", "modificationTime", "accessTime", "capacity", "dfsUsed", "remaining", "blockPoolUsed", "lastUpdate", "lastUpdateMonotonic", "xceiverCount", "nonDfsUsed", "cacheCapacity", "cacheUsed", "lastBlockReportTime",
    "lastBlockReportMonotonic", "numBlocks", "storageUuid", "storageIDs", "datanodeUuid", "txid", "newSegmentTxId", "startTime", "finalizeTime", "used", "ctime", "mtime", "atime", "location", "namespceID", "clusterID", "cTime", "curSegmentTxId", "mostRecentCheckpointTxId", "startTxId",
    "endTxId", "txId", "firstTxid", "lastTxid", "syncTxid", "timestamp", "buildVersion", "endTime", "nonDfsUsedSpace", "upgradeDomain", "infoSecurePort", "softwareVersion", "millis", "committedTxnId");

  static Configuration conf; static InetSocketAddress address; static PrintStream out; static FileSystem fs; static int number;
  static final Map<String, Object> proxies = new HashMap<>(); static final Map<String, String> variables = new TreeMap<>();

  static Object proxy(String user, String protocol) throws Exception {
    String key = user + " " + protocol;
    if (!proxies.containsKey(key)) {
      Class<?> type = Class.forName(protocol);
      RPC.setProtocolEngine(conf, type, ProtobufRpcEngine2.class);
      UserGroupInformation ugi = UserGroupInformation.createRemoteUser(user);
      proxies.put(key, RPC.getProxy(type, RPC.getProtocolVersion(type), address, ugi, conf, NetUtils.getDefaultSocketFactory(conf), 120000));
    }
    return proxies.get(key);
  }

  static Method find(String protocol, String name) throws Exception {
    for (Method m : Class.forName(protocol).getMethods()) if (m.getName().equals(name) && m.getParameterCount() == 2) return m;
    throw new IllegalArgumentException("no method " + name + " in " + protocol);
  }

  static Message request(Method method, String text) throws Exception {
    Message prototype = (Message) method.getParameterTypes()[1].getMethod("getDefaultInstance").invoke(null);
    Message.Builder builder = prototype.newBuilderForType();
    if (text.startsWith("hex:")) builder.mergeFrom(ByteString.copyFrom(HexFormat.of().parseHex(text.substring(4))), ExtensionRegistry.getEmptyRegistry());
    else TextFormat.getParser().merge(text, builder);
    return builder.buildPartial();
  }

  /** Class and message of an exception, or "-" and the answer; null fields never. */
  static String[] call(String user, String protocol, Method method, Message request) throws Exception {
    try {
      Message answer = (Message) method.invoke(proxy(user, protocol), null, request);
      return new String[] {"-", clean(TextFormat.printer().escapingNonAscii(true).printToString(mask(answer)).replaceAll("\\n *", " "))};
    } catch (InvocationTargetException e) {
      Throwable cause = e.getCause() instanceof ServiceException && e.getCause().getCause() != null ? e.getCause().getCause() : e.getCause();
      if (cause instanceof RemoteException) {
        String message = String.valueOf(((RemoteException) cause).getMessage());
        int trace = message.indexOf("\n\tat ");
        return new String[] {((RemoteException) cause).getClassName(), clean(trace < 0 ? message : message.substring(0, trace))};
      }
      return new String[] {"local " + cause.getClass().getName(), clean(String.valueOf(cause.getMessage()))};
    }
  }

  /** An inotify event's contents as text, in place of their bytes. */
  static String event(Message event) throws Exception {
    String kind = String.valueOf(event.getField(event.getDescriptorForType().findFieldByName("type"))).replace("EVENT_", "");
    Map<String, String> names = Map.of("CREATE", "Create", "CLOSE", "Close", "APPEND", "Append", "RENAME", "Rename", "METADATA", "MetadataUpdate", "UNLINK", "Unlink", "TRUNCATE", "Truncate");
    Message prototype = (Message) Class.forName("org.apache.hadoop.hdfs.protocol.proto.InotifyProtos$" + names.get(kind) + "EventProto").getMethod("getDefaultInstance").invoke(null);
    Message contents = prototype.newBuilderForType().mergeFrom((ByteString) event.getField(event.getDescriptorForType().findFieldByName("contents"))).buildPartial();
    return mask(contents).toString().replaceAll("\\n *", " ");
  }

  static Message mask(Message message) {
    Message.Builder builder = message.toBuilder();
    if (message.getDescriptorForType().getName().equals("EventProto")) {
      try { return builder.setField(message.getDescriptorForType().findFieldByName("contents"), ByteString.copyFromUtf8(event(message))).buildPartial(); } catch (Exception e) { throw new IllegalStateException(e); }
    }
    for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      if (field.getName().equals("softwareVersion") && message.getDescriptorForType().getName().equals("DatanodeInfoProto")) builder.clearField(field); // Surus leaves it out of blocks' locations
      else if (VOLATILE.contains(field.getName()) && field.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
        if (field.isRepeated()) builder.clearField(field);
        else if (field.getJavaType() == FieldDescriptor.JavaType.STRING) builder.setField(field, "*");
        else if (field.getJavaType() == FieldDescriptor.JavaType.LONG) builder.setField(field, 0L);
        else if (field.getJavaType() == FieldDescriptor.JavaType.INT) builder.setField(field, 0);
      } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        if (message.getDescriptorForType().getName().equals("BlocksWithLocationsProto")) { // in chance order
          List<Object> sorted = new ArrayList<>((List<?>) entry.getValue()); sorted.sort(Comparator.comparing(String::valueOf)); builder.clearField(field); for (Object o : sorted) builder.addRepeatedField(field, o);
        } else if (field.isRepeated()) for (int i = 0; i < message.getRepeatedFieldCount(field); i++) builder.setRepeatedField(field, i, mask((Message) message.getRepeatedField(field, i)));
        else builder.setField(field, mask((Message) entry.getValue()));
      }
    }
    return builder.buildPartial();
  }

  static String clean(String s) {
    for (Map.Entry<String, String> v : variables.entrySet()) if (v.getValue().length() > 8) s = s.replace(v.getValue(), "${" + v.getKey() + "}");
    return s.stripTrailing().replaceAll("127\\.0\\.0\\.1:\\d+", "{HOST:PORT}").replaceAll("(xferPort|infoPort|ipcPort): \\d+", "$1: 0").replaceAll("(NamenodeHostName:|host = )[^;) ]*", "$1{HOST}").replaceAll("DS-[0-9a-f-]{36}", "{STORAGE}")
      .replaceAll("\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d[,.]\\d+\\S*", "{TIME}").replaceAll("s\\d{8}-\\d{6}\\.\\d{3}", "s{TIME}").replaceAll("\\b1[78]\\d{11}\\b", "{TIME}").replaceAll("@[0-9a-f]{5,8}\\b", "@{HASH}")
      .replaceAll("namespaceID = \\d+;", "namespaceID = {ID};").replaceAll("respectively: (-\\d+); -?\\d+; \\S+ \\S+;", "respectively: $1; {ID}; {TIME}; {CID};").replaceAll("ipc\\.\\d+\\.", "ipc.{PORT}.").replaceAll("(x{200})x*", "$1{MORE}").replaceAll("(?:/y){50,}", "{/y repeated}").replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "").replace("\n", "\\n").replaceAll("[\\x00-\\x1f\\x7f]", "{CONTROL}");
  }

  static String shorten(String s) { return s.replaceAll("(x{20})x*", "$1{MORE}").replaceAll("(?:/y){10,}", "{/y repeated}"); }

  static void row(String user, String method, String request, String[] answer) { out.println(++number + "\t" + user + "\t" + method + "\t" + shorten(request) + "\t" + answer[0] + "\t" + answer[1]); out.flush(); }

  static String expand(String text) {
    for (Map.Entry<String, String> v : variables.entrySet()) text = text.replace("${" + v.getKey() + "}", v.getValue());
    return text;
  }

  /** Block pool, DataNode and storage of the one DataNode, as later requests and answers name them. */
  static void learn() throws Exception {
    String nn = PROTOCOLS.get("nn");
    String version = String.valueOf(find(nn, "versionRequest").invoke(proxy("root", nn), null, request(find(nn, "versionRequest"), "")));
    variables.put("BP", version.replaceAll("(?s).*blockPoolID: \"([^\"]*)\".*", "$1"));
    Method storages = find(CLIENT, "getDatanodeStorageReport");
    String report = String.valueOf(storages.invoke(proxy("root", CLIENT), null, request(storages, "type: LIVE")));
    variables.put("DN", report.replaceAll("(?s).*datanodeUuid: \"([^\"]*)\".*", "$1"));
    for (String port : new String[] {"xfer", "info", "ipc"}) variables.put(port.toUpperCase(), report.replaceAll("(?s).*" + port + "Port: (\\d+).*", "$1"));
    variables.put("ST", report.replaceAll("(?s).*storageUuid: \"([^\"]*)\".*", "$1"));
  }

  static void directive(String line) throws Exception {
    String[] words = line.split(" ");
    switch (words[0]) {
      case "!file": // path, length: block size 1 MiB, one replica, bytes 0, 1, 2...
        try (FSDataOutputStream o = fs.create(new Path(words[1]), true, 4096, (short) 1, 1 << 20)) { for (int i = 0; i < Integer.parseInt(words[2]); i++) o.write(i); }
        break;
      case "!sleep": Thread.sleep(Long.parseLong(words[1])); break;
      case "!mutate": for (int i = 1; i < words.length; i++) mutate(words[i]); break;
      default: throw new IllegalArgumentException(line);
    }
  }

  // ---- absurd requests: a good request of each method with one field at a time made bad ----
  static final Map<String, String> good = new HashMap<>();
  static final String[] TEXTS = {"", " ", "relative", "/", "//", "/a/../b", "/a/./b", "/m//d///", "/m/a:b", "/m/d/", "/.reserved", "/.reserved/.inodes/999999", "/.reserved/.inodes/x", "/.reserved/raw", "/.snapshot", "/m/.snapshot/none", "/m/d/\u0000z", "/m/\ud83d\ude00", "x".repeat(300), "/m/" + "x".repeat(256), "/" + "x".repeat(8000), "/y".repeat(1001)};
  static final long[] NUMBERS = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE};

  static void mutate(String name) throws Exception {
    Method method = find(CLIENT, name);
    Message base = request(method, expand(good.get(name)));
    send(name, method, base.toBuilder().clear().buildPartial(), "(empty)");
    mutate(name, method, base, base.toBuilder(), base.toBuilder(), "");
  }

  static void send(String name, Method method, Message request, String what) throws Exception {
    Method txid = find(CLIENT, "getCurrentEditLogTxid");
    Message none = request(txid, "");
    long before = (Long) last(txid.invoke(proxy("root", CLIENT), null, none));
    String[] answer = call("root", CLIENT, method, request);
    long after = (Long) last(txid.invoke(proxy("root", CLIENT), null, none));
    if (!answer[0].equals("-") && after != before) answer[1] += " [and logged " + (after - before) + "]";
    row("root", name, what, answer);
  }

  static String shown(String text) { return text.replace("\u0000", "{NUL}"); }

  static Object last(Object answer) { return ((Message) answer).getAllFields().values().iterator().next(); }

  /** Every field of `level`, which stands in `root` at `prefix`, one after the other; `rebuild` makes the request. */
  static void mutate(String name, Method method, Message root, Message.Builder rootBuilder, Message.Builder level, String prefix) throws Exception {
    for (FieldDescriptor field : level.getDescriptorForType().getFields()) {
      String at = prefix + field.getName();
      Message.Builder changed = level.clone();
      if (field.isRequired()) send(name, method, changed.clearField(field).buildPartial(), at + ": (absent)");
      if (field.isRepeated() && level.getRepeatedFieldCount(field) == 0) continue;
      switch (field.getJavaType()) {
        case STRING:
          for (String text : TEXTS) { changed = level.clone(); set(changed, field, text); send(name, method, changed.buildPartial(), at + ": " + clean(shown(text))); }
          changed = level.clone(); changed.clearField(field);
          send(name, method, changed.mergeFrom(bytesOf(field, new byte[] {'/', 'm', '/', (byte) 0xff, (byte) 0xc0}), ExtensionRegistry.getEmptyRegistry()).buildPartial(), at + ": (invalid UTF-8)");
          break;
        case LONG: for (long n : NUMBERS) { changed = level.clone(); set(changed, field, n); send(name, method, changed.buildPartial(), at + ": " + n); } break;
        case INT: for (long n : NUMBERS) if (n == (int) n) { changed = level.clone(); set(changed, field, (int) n); send(name, method, changed.buildPartial(), at + ": " + n); } break;
        case ENUM:
          changed = level.clone(); changed.clearField(field);
          send(name, method, changed.mergeFrom(varint(field, 99), ExtensionRegistry.getEmptyRegistry()).buildPartial(), at + ": 99"); break;
        case BYTE_STRING: for (String text : new String[] {"", "zz", "\u00ff", "/"}) { changed = level.clone(); set(changed, field, ByteString.copyFrom(text, StandardCharsets.ISO_8859_1)); send(name, method, changed.buildPartial(), at + ": " + clean(shown(text))); } break;
        default: break; // messages inside: their required fields are absent in the shared checks
      }
    }
  }
  static void set(Message.Builder builder, FieldDescriptor field, Object value) { if (field.isRepeated()) builder.setRepeatedField(field, 0, value); else builder.setField(field, value); }
  static ByteString bytesOf(FieldDescriptor field, byte[] value) throws IOException {
    ByteString.Output buffer = ByteString.newOutput(); CodedOutputStream o = CodedOutputStream.newInstance(buffer); o.writeBytes(field.getNumber(), ByteString.copyFrom(value)); o.flush(); return buffer.toByteString();
  }
  static ByteString varint(FieldDescriptor field, int value) throws IOException {
    ByteString.Output buffer = ByteString.newOutput(); CodedOutputStream o = CodedOutputStream.newInstance(buffer); o.writeInt32(field.getNumber(), value); o.flush(); return buffer.toByteString();
  }

  public static void main(String[] a) throws Exception {
    conf = new HdfsConfiguration(); conf.setInt("ipc.client.connect.max.retries", 0); conf.set("fs.defaultFS", "hdfs://" + a[0]);
    address = NetUtils.createSocketAddr(a[0]); out = new PrintStream(new FileOutputStream(a[2]), true, "UTF-8");
    UserGroupInformation root = UserGroupInformation.createRemoteUser("root");
    fs = root.doAs((PrivilegedExceptionAction<FileSystem>) () -> FileSystem.newInstance(conf));
    learn();
    // Shown in the audit log, escaped.
    CallerContext.setCurrent(new CallerContext.Builder("m\t\u00e4").setSignature("s\"".getBytes(StandardCharsets.UTF_8)).build());
    out.println("number\tuser\tmethod\trequest\texception\tanswer or message");
    for (String line : Files.readAllLines(Paths.get(a[1]))) {
      if (line.isBlank() || line.startsWith("#")) continue;
      if (line.startsWith("!")) { directive(line); continue; }
      String[] words = line.split(" ", 3); String user = words[0], name = words[1], text = words.length > 2 ? words[2] : "";
      if (user.equals("good")) { good.put(name, text); continue; }
      int dot = name.indexOf('.');
      String protocol = dot < 0 ? CLIENT : PROTOCOLS.get(name.substring(0, dot));
      Method method = find(protocol, name.substring(dot + 1));
      row(user, name, text, call(user, protocol, method, request(method, expand(text))));
    }
    System.exit(0);
  }
}
