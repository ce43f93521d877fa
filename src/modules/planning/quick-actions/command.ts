import { alsoAsking } from '../../../api/also-asking.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { Failure, type FailureKind, forbidden } from '../../../kernel/failure.ts'
import type {
  ActionsInTransaction,
  Applied,
  PlannedNoteable,
  QuickAction,
  QuickActions,
  TextPlace,
  Tracked,
} from '../../discussion/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'

/** Attributes that quick actions of all kinds change. Absent fields stay unchanged. */
export type SharedEdit = {
  title?: string
  state_event?: 'close' | 'reopen'
  assignee_ids?: readonly number[]
  add_assignee_ids?: readonly number[]
  remove_assignee_ids?: readonly number[]
  labels?: readonly string[]
  add_labels?: readonly string[]
  remove_labels?: readonly string[]
  milestone_id?: number | null
  discussion_locked?: boolean
}

/** Rights that quick actions of all kinds need; each kind says which of its abilities they are. */
export type Right = 'read' | 'update' | 'admin' | 'reopen' | 'award'

/** What quick actions change. */
export type Commanded<E extends SharedEdit> = {
  readonly noteable: PlannedNoteable & { readonly iid: number }
  /** `merge request` */
  readonly noun: string
  /** Where references of its texts are read. */
  readonly place: TextPlace
  readonly state: string
  readonly may: (ctx: Ctx, right: Right) => boolean
  /** The same, read again. */
  readonly mayNow: (ctx: Ctx, right: Right) => Promise<boolean>
  /** Updates it, with the consequences of an update through the API. */
  readonly update: (ctx: Ctx, edit: E) => Promise<unknown>
}

/** The same with milestones, assignees and time tracking. */
export type ScheduledCommanded<E extends SharedEdit> = Commanded<E> & {
  readonly tracked: Tracked
  readonly project: ProjectSubject
}

/** The effect of one action: a change of the common update, or something done after it. */
type Effect = {
  readonly says: string
  readonly run?: (ctx: Ctx) => Promise<unknown>
  /** Whether it runs only if the common update succeeds, of which it is a consequence. */
  readonly follows?: boolean
}

/** A quick action. */
export type Command<E extends SharedEdit, T extends Commanded<E> = Commanded<E>> = {
  readonly names: readonly string[]
  readonly needs: Right
  /**
   * Adds what the action asks to the common update `edit`, or returns what to run after it. Undefined if the argument means nothing,
   * or if the caller may not do that.
   */
  plan(input: {
    readonly ctx: Ctx
    readonly subject: T
    readonly argument: string
    readonly edit: E
  }): Promise<Effect | undefined> | Effect | undefined
}

/** Failures of the service. All others concern only the action: it is reported, and the others are applied. */
const ofService: ReadonlySet<FailureKind> = new Set<FailureKind>(['unavailable', 'storage_full', 'timed_out'])

/** Runs it; false if it fails for a reason that concerns only this action. */
async function succeeds(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (error instanceof Failure && !ofService.has(error.kind)) return false
    throw error
  }
}

const couldNot = (name: string): string => `Could not apply ${name} command.`

/** The quick actions of one kind of noteable. */
export type CommandSet<T> = {
  /** All names, in lower case. */
  readonly names: ReadonlySet<string>
  of(subject: T, transaction: ActionsInTransaction): QuickActions
}

export function commandSet<E extends SharedEdit, T extends Commanded<E>>(
  commands: readonly Command<E, T>[],
): CommandSet<T> {
  const byName = new Map(commands.flatMap((command) => command.names.map((name) => [name, command] as const)))
  const names = new Set(byName.keys())
  return {
    names,
    of: (subject, transaction) => ({
      ...transaction,
      known: names,
      apply: (ctx, actions) => apply(ctx, byName, subject, actions),
    }),
  }
}

/** The context in which an action runs: its request has asked for the right to comment only. */
const asking = (ctx: Ctx, subject: Pick<Commanded<SharedEdit>, 'mayNow'>, right: Right): Ctx =>
  alsoAsking(ctx, async (now) => {
    if (!(await subject.mayNow(now, right))) throw forbidden()
  })

/** Applies actions in their order: all attributes in one update, then the rest. An action that fails changes nothing. */
async function apply<E extends SharedEdit, T extends Commanded<E>>(
  ctx: Ctx,
  commands: ReadonlyMap<string, Command<E, T>>,
  subject: T,
  actions: readonly QuickAction[],
): Promise<Applied> {
  const edit = {} as E
  const planned: { readonly name: string; readonly needs: Right; readonly effect: Effect | undefined }[] = []
  for (const { name, argument } of actions) {
    const command = commands.get(name)!
    const effect = subject.may(ctx, command.needs) ? await command.plan({ ctx, subject, argument, edit }) : undefined
    planned.push({ name, needs: command.needs, effect })
  }
  const isUpdated = Object.keys(edit).length === 0 || (await succeeds(() => subject.update(ctx, edit)))
  const summary: string[] = []
  for (const { name, needs, effect } of planned) {
    const { run, follows = run === undefined } = effect ?? {}
    const isDone =
      effect !== undefined &&
      (isUpdated || !follows) &&
      (!run || (await succeeds(() => run(asking(ctx, subject, needs)))))
    summary.push(isDone ? effect.says : couldNot(name))
  }
  return { changes: isUpdated ? edit : {}, summary }
}
