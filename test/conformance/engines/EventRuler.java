import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import software.amazon.event.ruler.JsonRuleCompiler;
import software.amazon.event.ruler.Ruler;

/**
 * Reads lines of {"pattern": TEXT, "event": TEXT}, each text JSON, and prints for each {"fault": TEXT} of an invalid
 * pattern, {"matches": BOOLEAN} of a valid one, or {"threw": TEXT}. Its check lets no field be given twice.
 */
class EventRuler {
  public static void main(String[] arguments) throws Exception {
    ObjectMapper json = new ObjectMapper();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line; (line = input.readLine()) != null; ) {
      JsonNode pair = json.readTree(line);
      output.println(json.writeValueAsString(judge(pair.get("pattern").asText(), pair.get("event").asText())));
    }
    output.flush();
  }

  private static Map<String, Object> judge(String pattern, String event) {
    String fault = JsonRuleCompiler.check(pattern, false);
    if (fault != null) return Map.of("fault", fault.split("\n")[0]);
    try {
      return Map.of("matches", Ruler.matchesRule(event, pattern));
    } catch (Exception error) {
      return Map.of("threw", error.toString());
    }
  }
}
