/** Settles as `work` does; after `ms` instead with what `late` returns or throws. Leaves no timer behind. */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    return await Promise.race([work, time.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
