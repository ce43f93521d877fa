import ts from 'typescript-5'

/** A `sql` template of a source file. */
export type Template = {
  /** Between the backticks. */
  readonly start: number
  readonly end: number
  /** The `${…}` in it, in order. */
  readonly holes: readonly { readonly start: number; readonly end: number }[]
}

/** The `sql` templates of a source file, without those in the holes of others. */
export function templatesOf(path: string, source: string): Template[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const found: Template[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText(file) === 'sql')
      found.push(templateOf(node.template, file))
    else ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function templateOf(node: ts.TemplateLiteral, file: ts.SourceFile): Template {
  const spans = ts.isTemplateExpression(node) ? node.templateSpans : []
  return {
    start: node.getStart(file) + 1,
    end: node.end - 1,
    holes: spans.map(({ expression, literal }) => ({
      start: expression.getFullStart() - 2,
      end: literal.getStart(file) + 1,
    })),
  }
}
