// A stream of deliveries as a client sees it that costs little itself.
import net from 'node:net'
import { httpRequest } from './load.ts'

export interface Received {
  deliveryId: string
  eventId: string
}

const DELIVERY = /id: (dlv_\w+)\ndata: .*"event_id":"([^"]+)"/

/** Opens a stream, and passes on what each read brought. */
export function openStream(port: number, token: string, hear: (received: Received[]) => void): Promise<net.Socket> {
  let rest = ''
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
    socket.setEncoding('latin1')
    socket.write(httpRequest({ method: 'GET', path: '/v1/delivery/stream?max_in_flight=100', token }))
    socket.once('error', reject)
    socket.once('data', (head: string) => {
      if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head.slice(0, 200)))
      resolve(socket)
    })
    socket.on('data', (text: string) => {
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop()!
      const received: Received[] = []
      for (const block of blocks) {
        const [, deliveryId, eventId] = DELIVERY.exec(block) ?? []
        if (deliveryId && eventId) received.push({ deliveryId, eventId })
      }
      hear(received)
    })
  })
}
