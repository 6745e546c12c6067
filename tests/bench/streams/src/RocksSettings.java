// Memory of each RocksDB store; a store per partition. peer.rocksdb.* of --set change it for a measurement.
import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;

public final class RocksSettings implements RocksDBConfigSetter {
  private static final long MIB = 1024 * 1024;

  private Cache cache;

  @Override
  public void setConfig(String store, Options options, Map<String, Object> settings) {
    cache = new LRUCache(bytes(settings, "peer.rocksdb.block.cache.mib", 64));
    // Kafka Streams' own table, so that its Bloom filter stays.
    final BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(cache);
    options.setTableFormatConfig(table);
    options.setWriteBufferSize(bytes(settings, "peer.rocksdb.write.buffer.mib", 32));
  }

  @Override
  public void close(String store, Options options) {
    cache.close();
  }

  private static long bytes(Map<String, Object> settings, String key, long otherwise) {
    final Object value = settings.get(key);
    return MIB * (value == null ? otherwise : Long.parseLong(value.toString()));
  }
}
