import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { freshEnv, serve } from '../service.ts'
import type { Answer } from '../world.ts'

describe('Idempotency-Key across kill -9', () => {
  test('every request takes effect once, and its repeats get the first answer, from any process', async () => {
    let service = await serve({ ...(await freshEnv()), STITHY_PROCESSES: '2' })
    const { id } = (await service.root.post('/projects', { path: 'once', initialize_with_readme: true })).json
    const at = `/projects/${id}`
    const send = (key: string, path: string, json: object): Promise<Answer | undefined> =>
      service.root.send('POST', path, { headers: { 'idempotency-key': key }, json }).catch(() => undefined)
    /** Repeats a request until it has an answer of its own; gives up on those that may have been interrupted. */
    const untilAnswered = async (key: string, path: string, json: object): Promise<Answer> => {
      for (;;) {
        const answer = await send(key, path, json)
        const isLasting = answer && answer.status < 500 && answer.headers['retry-after'] === undefined
        if (isLasting) return answer
        await delay(30)
      }
    }
    const titles = Array.from({ length: 120 }, (_, n) => `Issue ${n}`)
    const files = Array.from({ length: 16 }, (_, n) => `file-${n}`)
    const open = [...titles]
    const answers = new Map<string, Answer>()
    const writeIssues = async () => {
      for (let title = open.pop(); title !== undefined; title = open.pop())
        answers.set(title, await untilAnswered(title, `${at}/issues`, { title }))
    }
    const writeFiles = async () => {
      for (const name of files)
        answers.set(
          name,
          await untilAnswered(name, `${at}/repository/files/${name}`, {
            branch: 'master',
            commit_message: `Add ${name}`,
            content: name,
          }),
        )
    }
    const writing = Promise.all([writeIssues(), writeIssues(), writeIssues(), writeFiles()])
    for (let round = 0; round < 3; round++) {
      await delay(200)
      await service.launched.killNamed('stithy worker').catch(() => {})
      await delay(200)
      process.kill(service.launched.pid, 'SIGKILL')
      await service.launched.exit
      await delay(300)
      service = await serve(service.env)
    }
    await writing

    const issues: { id: number; title: string }[] = []
    for (let page = 1; page <= 3; page++)
      issues.push(...(await service.root.get(`${at}/issues?per_page=100&page=${page}`)).json)
    expect(issues.map(({ title }) => title).sort()).toEqual([...titles].sort())
    for (const { id, title } of issues) {
      expect(answers.get(title)).toMatchObject({ status: 201, json: { id } })
      const again = (await send(title, `${at}/issues`, { title }))!
      expect(again).toMatchObject({ status: 201, text: answers.get(title)!.text })
      expect(again.headers['idempotency-replayed']).toBe('true')
    }

    const commits = (await service.root.get(`${at}/repository/commits?per_page=100`)).json as { title: string }[]
    for (const name of files) {
      const made = commits.filter(({ title }) => title === `Add ${name}`).length
      const { status } = answers.get(name)!
      // 409: interrupted, and it may have taken effect.
      expect([201, 409]).toContain(status)
      expect(made).toBeLessThanOrEqual(1)
      if (status === 201) expect(made).toBe(1)
    }
  })
})
