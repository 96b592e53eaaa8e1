// What client-go's work queue costs on this machine. Each line that it reads, "CASE SIZE KEYS", is a
// sample; each line that it prints is one's figures, as JSON: nanoseconds of CPU time, all threads,
// garbage collection included, per item.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"runtime"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

const cycles = 300_000

type figures map[string]float64

// stopwatch returns the CPU time since it was last asked, in nanoseconds for each of so many items.
func stopwatch() func(items int) float64 {
	last := cpuTime()
	return func(items int) float64 {
		now := cpuTime()
		spent := now - last
		last = now
		return float64(spent.Nanoseconds()) / float64(items)
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func strings(size int) []string {
	keys := make([]string, size)
	for i := range keys {
		keys[i] = fmt.Sprintf("shop/order-%d", i)
	}
	return keys
}

func ints(size int) []int {
	keys := make([]int, size)
	for i := range keys {
		keys[i] = i
	}
	return keys
}

// cycle adds one key after the other; each is handed out and done before the next comes.
func cycle[Key comparable](keys []Key) figures {
	queue := workqueue.NewTyped[Key]()
	defer queue.ShutDown()
	lap := stopwatch()
	for i := 0; i < cycles; i++ {
		queue.Add(keys[i%len(keys)])
		key, _ := queue.Get()
		queue.Done(key)
	}
	return figures{"ns/item": lap(cycles)}
}

// steady hands out, of keys that are all queued, one after the other, and adds each again.
func steady[Key comparable](keys []Key) figures {
	queue := workqueue.NewTyped[Key]()
	defer queue.ShutDown()
	for _, key := range keys {
		queue.Add(key)
	}
	lap := stopwatch()
	for i := 0; i < cycles; i++ {
		key, _ := queue.Get()
		queue.Done(key)
		queue.Add(key)
	}
	return figures{"ns/item": lap(cycles)}
}

// delayed adds keys at random times, makes all of them due in one step, and takes them.
func delayed[Key comparable](keys []Key) figures {
	const longest = 1_000_000 * time.Millisecond
	after := make([]time.Duration, len(keys))
	for i := range after {
		after[i] = time.Millisecond + time.Duration(rand.Int63n(int64(longest)))
	}
	fake := clocktesting.NewFakeClock(time.Now())
	queue := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{Clock: fake})
	defer queue.ShutDown()
	runtime.GC()
	lap := stopwatch()
	for i, key := range keys {
		queue.AddAfter(key, after[i])
	}
	// At most a thousand are still on their way to the goroutine that keeps them.
	runtime.Gosched()
	add := lap(len(keys))
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	lap(1)
	fake.Step(2 * longest)
	for queue.Len() < len(keys) {
		time.Sleep(time.Millisecond)
	}
	due := lap(len(keys))
	for range keys {
		key, _ := queue.Get()
		queue.Done(key)
	}
	return figures{"add ns": add, "due ns": due, "drain ns": lap(len(keys))}
}

func sample[Key comparable](name string, keys []Key) figures {
	cases := map[string]func([]Key) figures{"cycle": cycle[Key], "steady": steady[Key], "delayed": delayed[Key]}
	run := cases[name]
	if run == nil {
		return nil
	}
	return run(keys)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var name, kind string
		var size int
		var result figures
		if _, err := fmt.Sscan(lines.Text(), &name, &size, &kind); err == nil && size > 0 {
			if kind == "ints" {
				result = sample(name, ints(size))
			} else {
				result = sample(name, strings(size))
			}
		}
		if result == nil {
			log.Fatalf("%q is not CASE SIZE KEYS, such as \"delayed 1000 strings\"", lines.Text())
		}
		if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			log.Fatal(err)
		}
	}
}
