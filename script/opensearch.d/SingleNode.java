// Runs one OpenSearch node with the settings of a file of properties, until SIGTERM. A node of its own process without
// OpenSearch's start program: that one refuses root and needs the folders of its distribution.
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

public final class SingleNode extends Node {
  private SingleNode(Environment environment, List<Class<? extends Plugin>> plugins) {
    super(environment, plugins, true);
  }

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    try (Reader file = Files.newBufferedReader(Path.of(arguments[0]), StandardCharsets.UTF_8)) {
      properties.load(file);
    }
    Settings.Builder settings = Settings.builder();
    properties.forEach((name, value) -> settings.put((String) name, (String) value));
    Environment environment = InternalSettingsPreparer.prepareEnvironment(
        settings.build(), Map.of(), Path.of(arguments[0]).getParent(), () -> "single-node");
    Node node = new SingleNode(environment, List.of(Netty4Plugin.class));
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        node.close();
      } catch (java.io.IOException failure) {
        failure.printStackTrace();
      }
      ended.countDown();
    }));
    node.start();
    ended.await();
  }
}
