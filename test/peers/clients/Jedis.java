// The Bloom commands by Jedis, on a server at PORT, with the given version of the protocol: Jedis.java PORT 2|3

import java.util.List;
import java.util.Map;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.bloom.BFInsertParams;
import redis.clients.jedis.exceptions.JedisDataException;

public class Jedis {
  static void line(String name, List<?> values) {
    StringBuilder text = new StringBuilder(name + ":");
    for (Object each : values) text.append(' ').append(each);
    System.out.println(text);
  }

  public static void main(String[] words) {
    RedisProtocol protocol = words[1].equals("3") ? RedisProtocol.RESP3 : RedisProtocol.RESP2;
    try (JedisPooled client = new JedisPooled(new HostAndPort("127.0.0.1", Integer.parseInt(words[0])),
        DefaultJedisClientConfig.builder().protocol(protocol).build())) {
      line("reserve", List.of(client.bfReserve("visitors", 0.001, 1000)));
      try {
        client.bfReserve("visitors", 0.001, 1000);
      } catch (JedisDataException refusal) {
        line("again", List.of(refusal.getMessage().contains("item exists")));
      }
      line("add", List.of(client.bfAdd("visitors", "alice"), client.bfAdd("visitors", "alice")));
      line("madd", client.bfMAdd("visitors", "bob", "alice", "carol"));
      line("exists", List.of(client.bfExists("visitors", "bob"), client.bfExists("visitors", "nobody")));
      line("mexists", client.bfMExists("visitors", "carol", "nobody"));
      line("insert", client.bfInsert("urls", BFInsertParams.insertParams().capacity(500).error(0.01), "a", "b", "a"));
      Map<String, Object> info = client.bfInfo("visitors");
      line("info", List.of(info.get("Capacity"), info.get("Number of filters"), info.get("Number of items inserted"),
          info.get("Expansion rate")));
      line("card", List.of(client.bfCard("visitors")));
      for (Map.Entry<Long, byte[]> at = client.bfScanDump("visitors", 0); at.getKey() != 0;
           at = client.bfScanDump("visitors", at.getKey()))
        client.bfLoadChunk("copy", at.getKey(), at.getValue());
      line("copy", List.of(client.bfExists("copy", "alice"), client.bfExists("copy", "nobody")));
    }
  }
}
