import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** DynamoDB Local on loopback only: its own main listens on all addresses. */
public final class DynamoDbLocal {
  public static void main(String[] arguments) throws Exception {
    DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(arguments);
    Field field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(local)).getConnectors())
      ((ServerConnector) connector).setHost("127.0.0.1");
    local.start();
    local.join();
  }
}
