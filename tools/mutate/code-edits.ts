import ts from 'typescript-5'
import { featureLevels, levels, visibilities } from '../../src/access/levels.ts'
import { type Edit, removal, replacement } from './edit.ts'
import { sqlEdits } from './sql-edits.ts'

/** Comparisons with the neighbour that replaces each. */
const comparisons: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.LessThanToken, '<='],
])

/** Names of numbers in ascending order, by the object that has them. */
const scales: ReadonlyMap<string, readonly string[]> = new Map([
  ['levels', Object.keys(levels)],
  ['visibilities', Object.keys(visibilities)],
  ['featureLevels', Object.keys(featureLevels)],
])

/** Methods of arrays with the one that replaces each. */
const quantifiers: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
])

const besides = (scale: readonly string[], name: string): string[] => {
  const at = scale.indexOf(name)
  return at < 0 ? [] : [scale[at - 1], scale[at + 1]].filter((other) => other !== undefined)
}

/** Parts of a rule that can be left out. */
const optionalParts = new Set(['open', 'openUnless', 'feature', 'or', 'unless', 'evenLimited'])

/** An edit and the declaration that it is in: `projectPolicy.read_code`. */
export type PlacedEdit = Edit & { readonly place: string }

/** Every edit that the operators make in a source file. */
export function codeEdits(path: string, source: string): PlacedEdit[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const found: PlacedEdit[] = []
  const visit = (node: ts.Node, place: string): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
    const inside = placeWithin(node, place)
    for (const edit of editsOf(node, source)) found.push({ ...edit, place: inside })
    ts.forEachChild(node, (child) => visit(child, inside))
  }
  visit(file, '')
  return found
}

/** Declarations on the top level, members of classes and rules of policies name a place. */
function placeWithin(node: ts.Node, place: string): string {
  const isTop =
    (ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent)) || ts.isFunctionDeclaration(node)
  if ((isTop && place === '') || ts.isClassDeclaration(node)) return node.name?.getText() ?? place
  const isPart =
    ts.isMethodDeclaration(node) || (ts.isPropertyAssignment(node) && ts.isObjectLiteralExpression(node.initializer))
  return isPart && !place.includes('.') ? `${place}.${node.name.getText()}` : place
}

function editsOf(node: ts.Node, source: string): Edit[] {
  const replace = (at: ts.Node, text: string) => replacement(source, at.getStart(), at.end, text)
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'sql') return templateEdits(node.template, source)
  if (ts.isCallExpression(node)) return callEdits(node, source)
  if (ts.isIfStatement(node)) {
    const { expression, thenStatement } = node
    // Other operators negate a condition that is a comparison or a negation.
    const isNegatedElsewhere =
      ts.isPrefixUnaryExpression(expression) ||
      (ts.isBinaryExpression(expression) && comparisons.has(expression.operatorToken.kind))
    const isGuard = ts.isReturnStatement(thenStatement) || ts.isThrowStatement(thenStatement)
    return [
      ...(isNegatedElsewhere ? [] : [replace(expression, `!(${expression.getText()})`)]),
      ...(isGuard ? [replace(expression, 'false')] : []),
    ]
  }
  if (ts.isConditionalExpression(node))
    return [replace(node, `(${node.whenTrue.getText()})`), replace(node, `(${node.whenFalse.getText()})`)]
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [replace(node, node.operand.getText())]
  if (ts.isBinaryExpression(node)) return operatorEdits(node, source)
  if (ts.isPropertyAccessExpression(node)) {
    const scale = scales.get(node.expression.getText())
    return scale ? besides(scale, node.name.text).map((name) => replace(node.name, name)) : []
  }
  // `disabled` and `enabled`, taken out of `featureLevels`.
  if (ts.isIdentifier(node) && ts.isTemplateSpan(node.parent))
    return besides(scales.get('featureLevels')!, node.text).map((name) => replace(node, `featureLevels.${name}`))
  if (ts.isPropertyAssignment(node)) return ruleEdits(node, source)
  if (ts.isArrayLiteralExpression(node)) return arrayEdits(node, source)
  if (ts.isReturnStatement(node) && node.expression && isBoolean(functionAround(node)))
    return booleans(node.expression, source)
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && isBoolean(node)) return booleans(node.body, source)
  return []
}

function templateEdits(template: ts.TemplateLiteral, source: string): Edit[] {
  const spans = ts.isTemplateExpression(template) ? template.templateSpans : []
  const holes = spans.map(({ expression, literal }) => ({
    start: expression.getFullStart() - 2,
    end: literal.getStart() + 1,
  }))
  return sqlEdits(source, template.getStart() + 1, template.end - 1, holes)
}

function callEdits(node: ts.CallExpression, source: string): Edit[] {
  const [argument] = node.arguments
  if (node.expression.getText() === 'raw' && argument && ts.isStringLiteralLike(argument))
    return sqlEdits(source, argument.getStart() + 1, argument.end - 1)
  if (!ts.isPropertyAccessExpression(node.expression)) return []
  const { name } = node.expression
  const other = quantifiers.get(name.text)
  return other === undefined ? [] : [replacement(source, name.getStart(), name.end, other)]
}

function operatorEdits({ left, operatorToken, right }: ts.BinaryExpression, source: string): Edit[] {
  const comparison = comparisons.get(operatorToken.kind)
  if (comparison !== undefined)
    return [
      {
        ...replacement(source, operatorToken.getStart(), operatorToken.end, comparison),
        what: `${left.getText()} ${operatorToken.getText()} ${right.getText()} → ${comparison}`,
      },
    ]
  const isLogical = [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken].includes(operatorToken.kind)
  if (!isLogical) return []
  // The left operand of a longer chain is a chain, whose own operands are left out one by one.
  const isChain = ts.isBinaryExpression(left) && left.operatorToken.kind === operatorToken.kind
  const withoutRight = removal(source, left.end, right.end)
  return isChain ? [withoutRight] : [removal(source, left.getStart(), right.getStart()), withoutRight]
}

function ruleEdits(node: ts.PropertyAssignment, source: string): Edit[] {
  const { name, initializer } = node
  const replace = (text: string) => replacement(source, initializer.getStart(), initializer.end, text)
  const others =
    name.getText() === 'from' && ts.isStringLiteral(initializer)
      ? besides([...scales.get('levels')!, 'administrator'], initializer.text)
      : name.getText() === 'open' && ts.isStringLiteral(initializer)
        ? [initializer.text === 'anyone' ? 'signed_in' : 'anyone']
        : []
  const edits = others
    .filter((other) => other !== 'none')
    .map((other) => ({
      ...replace(`'${other}'`),
      what: `${name.getText()}: ${initializer.getText()} → '${other}'`,
    }))
  if (!optionalParts.has(name.getText())) return edits
  const comma = /^\s*,/.exec(source.slice(node.end))?.[0].length ?? 0
  return [...edits, removal(source, node.getStart(), node.end + comma)]
}

/** Leaves out each of a list of texts or of conditions. */
function arrayEdits({ elements }: ts.ArrayLiteralExpression, source: string): Edit[] {
  const isList = elements.every(ts.isStringLiteral) || elements.some(isSql)
  if (elements.length < 2 || !isList) return []
  return elements.map((element, index) => {
    const comma = index < elements.length - 1 ? /^\s*,/.exec(source.slice(element.end))![0].length : 0
    return removal(source, element.getStart(), element.end + comma)
  })
}

const isSql = (node: ts.Node): boolean =>
  (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'sql') ||
  (ts.isCallExpression(node) && node.expression.getText() === 'raw')

function booleans(expression: ts.Expression, source: string): Edit[] {
  const text = expression.getText()
  return ['true', 'false']
    .filter((value) => value !== text)
    .map((value) => ({ ...replacement(source, expression.getStart(), expression.end, value) }))
}

function functionAround(node: ts.Node): ts.FunctionLikeDeclaration | undefined {
  for (let at: ts.Node | undefined = node.parent; at; at = at.parent)
    if (ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at) || ts.isArrowFunction(at)) return at
  return undefined
}

const isBoolean = (node: ts.FunctionLikeDeclaration | undefined): boolean =>
  node?.type !== undefined && /^(Promise<boolean>|boolean)$/.test(node.type.getText())
