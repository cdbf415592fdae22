// The requests that a service has in hand.

/** Counts them by the metrics, and so with the request for the metrics. */
export async function inFlight(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^sensorium_http_in_flight (-?\d+)$/m.exec(metrics)![1])
}
