import { Gitlab } from '@gitbeaker/rest'
import { describe, expect } from 'vitest'
import { test } from '../world.ts'

describe('writes with @gitbeaker/rest', () => {
  test('@gitbeaker/rest writes files and commits, cherry-picks and reverts', async ({ world }) => {
    const ann = await world.user()
    const { id } = await world.project({ members: [[ann, 'maintainer']] })
    const api = new Gitlab({ host: world.origin, token: ann.token! })

    expect(await api.RepositoryFiles.create(id, 'a/ä b.txt', 'main', 'one\n', 'First')).toEqual({
      file_path: 'a/ä b.txt',
      branch: 'main',
    })
    await api.RepositoryFiles.edit(id, 'a/ä b.txt', 'main', Buffer.from('two\n').toString('base64'), 'Second', {
      encoding: 'base64',
      authorName: 'Bob',
    })
    expect(await api.RepositoryFiles.showRaw(id, 'a/ä b.txt', 'main')).toBe('two\n')

    const made = await api.Commits.create(
      id,
      'feature',
      'Third',
      [
        { action: 'create', filePath: 'b.txt', content: 'b\n' },
        { action: 'move', filePath: 'c.txt', previousPath: 'a/ä b.txt' },
        { action: 'chmod', filePath: 'c.txt', execute_filemode: true },
      ],
      { startBranch: 'main' },
    )
    expect(made).toMatchObject({ title: 'Third', stats: { additions: 1, deletions: 0, total: 1 } })

    expect(await api.Commits.cherryPick(id, made.id, 'main')).toMatchObject({
      message: `Third\n\n(cherry picked from commit ${made.id})`,
    })
    expect(await api.Commits.revert(id, 'main', 'main')).toMatchObject({ title: 'Revert "Third"' })
    await expect(api.Commits.cherryPick(id, made.id, 'feature')).rejects.toMatchObject({
      message: expect.stringContaining('Sorry, we cannot cherry-pick'),
    })
    await api.RepositoryFiles.remove(id, 'a/ä b.txt', 'main', 'Away')
    await expect(api.RepositoryFiles.showRaw(id, 'a/ä b.txt', 'main')).rejects.toMatchObject({
      message: expect.stringContaining('404 File Not Found'),
    })
    expect((await api.Commits.all(id, { refName: 'main' })).map(({ title }) => title)).toEqual([
      'Away',
      'Revert "Third"',
      'Third',
      'Second',
      'First',
    ])
  })
})
