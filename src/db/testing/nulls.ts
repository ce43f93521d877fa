import { isNode, type Node, nodesOf, type Value } from './node-tree.ts'

/** Whether a column can be null: `unknown` for expressions about which the parse tree says nothing. */
export type Nulls = 'never' | 'possible' | 'unknown'

/** Whether a column of a table is declared `not null`. Numbers are those of pg_attribute. */
export type IsNotNull = (table: number, column: number) => boolean

/** `RTEKind` of PostgreSQL 18. */
const kinds = { relation: '0', subquery: '1', join: '2', cte: '6', group: '9' }

/** `SetOperation` of PostgreSQL. */
const [intersect, except] = ['2', '3']

const anyOf = (all: readonly Nulls[]): Nulls =>
  all.includes('possible') ? 'possible' : all.includes('unknown') ? 'unknown' : 'never'

const columnsOf = (query: Node): readonly Node[] =>
  nodesOf(query['commandType'] === '1' ? query['targetList'] : query['returningList']).filter(
    (entry) => entry['resjunk'] !== 'true',
  )

/** `JoinType` of PostgreSQL. */
const joins = { left: '1', full: '2', right: '3' }

/** Whether an outer join of the query can turn a row of this range into nulls. PostgreSQL 14 and 15 do not mark such variables. */
function isOuterJoined(query: Node | undefined, range: string): boolean {
  const under = (value: Value, nullable: boolean): boolean => {
    if (!isNode(value)) return false
    if (value.tag === 'FROMEXPR') return nodesOf(value['fromlist']).some((each) => under(each, nullable))
    if (value['rtindex'] === range) return nullable
    const { jointype, larg, rarg } = value
    return (
      under(larg, nullable || jointype === joins.right || jointype === joins.full) ||
      under(rarg, nullable || jointype === joins.left || jointype === joins.full)
    )
  }
  return under(query?.['jointree'], false)
}

/** Of each column that the statement returns, in their order, whether it can be null. */
export function nullsOf(statement: Node, isNotNull: IsNotNull): Nulls[] {
  /** Innermost last: an expression refers to a query around it by counting from the end. */
  type Scope = readonly Node[]

  function columnNulls(scope: Scope, number: number): Nulls {
    const query = scope.at(-1)!
    if (isNode(query['setOperations'])) return branchNulls(scope, query['setOperations'], number)
    const column = columnsOf(query)[number - 1]
    return column ? expressionNulls(scope, column['expr']) : 'unknown'
  }

  /** A branch of `union`, `intersect` or `except`. */
  function branchNulls(scope: Scope, branch: Node, number: number): Nulls {
    if (branch.tag === 'RANGETBLREF') {
      const range = nodesOf(scope.at(-1)!['rtable'])[Number(branch['rtindex']) - 1]!
      return columnNulls([...scope, range['subquery'] as Node], number)
    }
    const left = branchNulls(scope, branch['larg'] as Node, number)
    if (branch['op'] === except) return left
    const right = branchNulls(scope, branch['rarg'] as Node, number)
    if (branch['op'] === intersect && (left === 'never' || right === 'never')) return 'never'
    return anyOf([left, right])
  }

  function variableNulls(scope: Scope, variable: Node): Nulls {
    // Outer joins that can turn it into null.
    if (nodesOrWords(variable['varnullingrels']).length > 1) return 'possible'
    const within = scope.slice(0, scope.length - Number(variable['varlevelsup']))
    if (!('varnullingrels' in variable) && isOuterJoined(within.at(-1), String(variable['varno']))) return 'possible'
    const range = nodesOf(within.at(-1)?.['rtable'])[Number(variable['varno']) - 1]
    const number = Number(variable['varattno'])
    switch (range?.['rtekind']) {
      case kinds.relation:
        return number < 0 || isNotNull(Number(range['relid']), number) ? 'never' : 'possible'
      case kinds.subquery:
        return columnNulls([...within, range['subquery'] as Node], number)
      case kinds.join:
        return expressionNulls(within, nodesOf(range['joinaliasvars'])[number - 1])
      case kinds.group:
        return expressionNulls(within, nodesOf(range['groupexprs'])[number - 1])
      case kinds.cte:
        return cteNulls(within, range, number)
      default:
        return 'unknown'
    }
  }

  function cteNulls(scope: Scope, range: Node, number: number): Nulls {
    const around = scope.slice(0, scope.length - Number(range['ctelevelsup']))
    const cte = nodesOf(around.at(-1)?.['cteList']).find((each) => each['ctename'] === range['ctename'])
    if (!cte || cte['cterecursive'] === 'true' || range['self_reference'] === 'true') return 'unknown'
    return columnNulls([...around, cte['ctequery'] as Node], number)
  }

  function expressionNulls(scope: Scope, expression: Value): Nulls {
    if (!isNode(expression)) return 'unknown'
    const of = (value: Value) => expressionNulls(scope, value)
    // Two names of a tag: PostgreSQL 14 and 15 have the shorter one.
    switch (expression.tag) {
      case 'VAR':
        return variableNulls(scope, expression)
      case 'CONST':
        return expression['constisnull'] === 'true' ? 'possible' : 'never'
      case 'RELABELTYPE':
      case 'COLLATE':
      case 'COLLATEEXPR':
        return of(expression['arg'])
      case 'NULLIFEXPR':
        return 'possible'
      case 'NULLTEST':
      case 'BOOLEANTEST':
        return 'never'
      case 'COALESCE':
      case 'COALESCEEXPR': {
        const all = nodesOf(expression['args']).map(of)
        return all.includes('never') ? 'never' : anyOf(all.includes('unknown') ? ['unknown'] : all)
      }
      case 'CASE':
      case 'CASEEXPR': {
        // Without `else` the default is a null constant.
        const results = nodesOf(expression['args']).map((when) => when['result'])
        return anyOf([...results, expression['defresult']].map(of))
      }
      default:
        return 'unknown'
    }
  }

  return columnsOf(statement).map((_, index) => columnNulls([statement], index + 1))
}

/** A bitmap set is printed as a list whose first word is `b`. */
const nodesOrWords = (value: Value): readonly Value[] => (Array.isArray(value) ? value : [])
