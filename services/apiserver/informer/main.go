// informer is what client-go makes of the benchmark's first sync: `informer URL COUNT` fills an empty cache with so
// many Pods, as a shared informer does by default. It prints what that has cost as JSON: milliseconds and bytes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	must(err)
	informer := informerOf(os.Args[1])
	ctx, stop := context.WithCancel(context.Background())
	heap, resident, cpu := liveBytes(), residentBytes(), cpuTime()
	longest := measureBlocks()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		log.Fatal("the cache did not sync")
	}
	spent, synced, block := cpuTime()-cpu, residentBytes(), longest()
	if cached := len(informer.GetStore().ListKeys()); cached != count {
		log.Fatalf("the cache has %d Pods, expected %d", cached, count)
	}
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	must(json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"cpu":     spent.Seconds() * 1e3,
		"block":   block.Seconds() * 1e3,
		"heap":    liveBytes() - heap,
		"rss":     synced - resident,
		"largest": float64(usage.Maxrss * 1024),
	}))
	runtime.KeepAlive(informer)
	stop()
}

func informerOf(url string) cache.SharedIndexInformer {
	client, err := typed.NewForConfig(&rest.Config{Host: url, QPS: -1}) // no limit
	must(err)
	pods := client.Pods(metav1.NamespaceAll)
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (kuberuntime.Object, error) {
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, options)
		},
	}
	return cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
}

// measureBlocks returns a function that ends it, and returns the longest time between two turns of a goroutine
// that wants one each millisecond.
func measureBlocks() func() time.Duration {
	end, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		var longest time.Duration
		for last := time.Now(); ; {
			select {
			case <-ticker.C:
				now := time.Now()
				longest = max(longest, now.Sub(last))
				last = now
			case <-end:
				result <- longest
				return
			}
		}
	}()
	return func() time.Duration {
		close(end)
		return <-result
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func liveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc)
}

func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	must(err)
	var size, resident int
	_, err = fmt.Sscan(string(text), &size, &resident)
	must(err)
	return float64(resident * os.Getpagesize())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
