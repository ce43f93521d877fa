import { describe, expect, test } from 'vitest'
import { type Claim, SharedSlots, Shares } from './shares.ts'

type Job = Claim & { readonly name: string }

function pool(slots: number, maxWaiting = 1_000) {
  const started: Job[] = []
  const shares = new Shares<Job>({ slots, maxWaiting, start: (job) => void started.push(job) })
  let count = 0
  const add = (caller: string, owner = '', more: Partial<Job> = {}) =>
    shares.add({ caller, owner, name: `${caller}${++count}`, ...more })
  const startedOf = (caller: string) => started.filter((job) => job.caller === caller).length
  /** Ends the job that started first and is still running. */
  const finish = (times = 1) => {
    for (; times > 0; times--) shares.release(started[ended++]!)
  }
  let ended = 0
  return { shares, started, add, startedOf, finish }
}

describe('slot pools with shares', () => {
  test('a caller gets a third of the slots, an owner and the service itself half of them', () => {
    for (const slots of [3, 10, 128]) {
      const { add, startedOf } = pool(slots)
      for (let i = 0; i < slots; i++) add('one')
      expect(startedOf('one')).toBe(Math.ceil(slots / 3))
      const ownerPool = pool(slots)
      for (let i = 0; i < slots; i++) ownerPool.add(`caller ${i}`, 'project')
      expect(ownerPool.started).toHaveLength(Math.ceil(slots / 2))
      const own = pool(slots)
      for (let i = 0; i < slots; i++) own.add('')
      expect(own.started).toHaveLength(Math.ceil(slots / 2))
    }
  })

  test('a new caller starts at once while twenty others have their maximum', () => {
    const { add, startedOf } = pool(128)
    for (let i = 0; i < 100; i++) for (let caller = 0; caller < 20; caller++) add(`caller ${caller}`)
    add('new')
    expect(startedOf('new')).toBe(1)
  })

  test('an account gets slots while clients of a thousand addresses use their maximum', () => {
    const { add, startedOf, shares } = pool(128, 1_000)
    let refused = 0
    for (let client = 0; client < 1_000; client++) if (add(`address 2001:db8:0:${client}::/64`)) refused++
    expect(shares.load).toMatchObject({ running: 64, waiting: 500 })
    expect(refused).toBe(1_000 - 64 - 500)
    for (let i = 0; i < 20; i++) expect(add('user 1')).toBeUndefined()
    expect(startedOf('user 1')).toBe(20)
  })

  test('address clients get all free slots once accounts no longer need them', () => {
    const { add, startedOf, finish, shares } = pool(8)
    for (let i = 0; i < 3; i++) for (const user of ['user 1', 'user 2', 'user 3']) add(user)
    for (let i = 0; i < 3; i++) add('address 192.0.2.7')
    while (shares.load.running > 0) finish()
    expect(startedOf('address 192.0.2.7')).toBe(3)
    expect(shares.load).toMatchObject({ running: 0, waiting: 0 })
  })

  test('waiting callers get slots in turn, and so do their owners', () => {
    const { add, started, finish } = pool(1)
    add('busy', 'a')
    for (let i = 0; i < 5; i++) add('busy', i < 4 ? 'a' : 'b')
    add('late')
    finish(4)
    expect(started.map(({ caller, owner }) => `${caller} ${owner}`)).toEqual([
      'busy a',
      'busy a',
      'late ',
      'busy b',
      'busy a',
    ])
  })

  test('a caller with too many waiting jobs is refused, others are not', () => {
    const { add } = pool(1, 30)
    for (let i = 0; i < 11; i++) expect(add('flood')).toBeUndefined()
    expect(add('flood')).toEqual({ full: 'caller' })
    expect(add('other')).toBeUndefined()
    for (let i = 0; i < 40; i++) add(`more ${i}`)
    expect(add('last')).toEqual({ full: 'all' })
  })

  test('a nested job starts at once, so that the job that holds the slot can end', () => {
    const { add, started, shares } = pool(1)
    add('one')
    add('one', '', { nested: true })
    expect(started).toHaveLength(2)
    shares.release(started[1]!)
    add('two')
    expect(started).toHaveLength(2)
    shares.release(started[0]!)
    expect(started).toHaveLength(3)
  })

  test('waiting jobs can be removed, and the load counts slots, running and waiting jobs', () => {
    const { shares, started } = pool(1)
    const jobs = ['one', 'two', 'three'].map((name): Job => ({ name, caller: name, owner: '' }))
    for (const job of jobs) shares.add(job)
    expect(shares.load).toMatchObject({ slots: 1, running: 1, waiting: 2 })
    expect(shares.load.oldestWaitMs).toBeGreaterThanOrEqual(0)
    expect(shares.remove(jobs[0]!)).toBe(false)
    expect(shares.remove(jobs[1]!)).toBe(true)
    shares.release(jobs[0]!)
    expect(started).toEqual([jobs[0], jobs[2]])
    shares.release(jobs[2]!)
    expect(shares.load).toEqual({ slots: 1, running: 0, waiting: 0, oldestWaitMs: 0 })
  })

  test('a pool never exceeds its slots and starts every job, in any order of events', () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return Math.floor((seed / 2147483648) * below)
    }
    for (let round = 0; round < 50; round++) {
      const slots = 1 + random(6)
      const { shares, started, finish } = pool(slots, 10_000)
      let ended = 0
      for (let step = 0; step < 200; step++) {
        if (random(3) > 0) shares.add({ name: '', caller: `c${random(4)}`, owner: `o${random(4)}` })
        else if (ended < started.length) {
          finish()
          ended++
        }
        expect(started.length - ended).toBeLessThanOrEqual(slots)
      }
      for (; ended < started.length; ended++) finish()
      expect(shares.load).toMatchObject({ running: 0, waiting: 0 })
    }
  })
})

describe('SharedSlots', () => {
  test('a caller aborted while waiting gives up its place to others', async () => {
    const slots = new SharedSlots('the test', { slots: 1, maxWaiting: 10 })
    const release = await slots.enter('one')
    const gone = new AbortController()
    const left = slots.enter('one', gone.signal)
    const other = slots.enter('two')
    gone.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    release()
    ;(await other)()
    expect(slots.load).toMatchObject({ running: 0, waiting: 0 })
  })

  test('rate_limited with a retry time when a caller has too many waiting requests', async () => {
    const slots = new SharedSlots('the test', { slots: 1, maxWaiting: 2 })
    await slots.enter('one')
    void slots.enter('one')
    await expect(slots.enter('one')).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAfterSeconds: 10,
      message: 'Too many of your requests wait for the test. Retry later.',
    })
    await expect(slots.enter('')).resolves.toBeTypeOf('function')
  })
})
