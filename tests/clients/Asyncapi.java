// What is wrong with an AsyncAPI document, a line for each: by the rules of apicurio-data-models, and what these leave
// out: members that AsyncAPI does not know, and the two that `info` has to have.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.apicurio.datamodels.Library;
import io.apicurio.datamodels.TraverserDirection;
import io.apicurio.datamodels.models.Document;
import io.apicurio.datamodels.models.Node;
import io.apicurio.datamodels.models.Schema;
import io.apicurio.datamodels.models.asyncapi.v30.AsyncApi30Document;
import io.apicurio.datamodels.models.visitors.AllNodeVisitor;
import io.apicurio.datamodels.validation.ValidationProblem;
import java.nio.file.Files;
import java.nio.file.Path;

public class Asyncapi {
  static class Unknown extends AllNodeVisitor {
    @Override
    protected void visitNode(Node node) {
      if (node instanceof Schema || !node.hasExtraProperties()) return;
      for (String name : node.getExtraPropertyNames()) {
        System.out.println(Library.createNodePath(node) + ": `" + name + "` is not known to AsyncAPI");
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    String text = Files.readString(Path.of(arguments[0]));
    Document document = Library.readDocumentFromJSONString(text);
    if (!(document instanceof AsyncApi30Document)) System.out.println("not AsyncAPI 3.0");
    for (ValidationProblem problem : Library.validate(document, null)) {
      System.out.println(problem.nodePath + ": " + problem.message);
    }
    Library.visitTree(document, new Unknown(), TraverserDirection.down);
    JsonNode info = new ObjectMapper().readTree(text).path("info");
    for (String name : new String[] {"title", "version"}) {
      if (!info.path(name).isTextual()) System.out.println("/info: no `" + name + "`");
    }
  }
}
