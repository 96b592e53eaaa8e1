// operator is what client-go makes of the benchmark's operator: `operator COUNT WORD` watches greetings, writes
// "WORD, NAME!" into the status of each, and ends when its cache has so many greetings with that status. It
// prints what that has cost, from its start on, as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const workers = 8

var greetings = schema.GroupVersionResource{Group: "bench.example.org", Version: "v1", Resource: "greetings"}

type operator struct {
	count    int
	word     string
	client   dynamic.NamespaceableResourceInterface
	informer cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[string]
	mutex    sync.Mutex
	done     map[string]bool
}

func main() {
	began := time.Now()
	count, err := strconv.Atoi(os.Args[1])
	must(err)
	client, err := dynamic.NewForConfig(&rest.Config{
		Host:            os.Getenv("API_URL"),
		BearerToken:     os.Getenv("API_TOKEN"),
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(os.Getenv("API_CA"))},
		QPS:             -1, // no limit
	})
	must(err)
	o := &operator{
		count:  count,
		word:   os.Args[2],
		client: client.Resource(greetings),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		done:   map[string]bool{},
	}
	o.watch()
	ctx, stop := context.WithCancel(context.Background())
	go o.informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), o.informer.HasSynced) {
		log.Fatal("the cache did not sync")
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for o.next(ctx) {
			}
		})
	}
	working.Wait()
	stop()
	report(began)
}

// watch makes an informer as dynamicinformer does, which would bring every typed client with it.
func (o *operator) watch() {
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return o.client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return o.client.Watch(ctx, options)
		},
	}
	o.informer = cache.NewSharedIndexInformer(source, &unstructured.Unstructured{}, 0, cache.Indexers{})
	add := func(object any) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		must(err)
		o.queue.Add(key)
	}
	_, err := o.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
		DeleteFunc: add,
	})
	must(err)
}

func (o *operator) next(ctx context.Context) bool {
	key, isShutDown := o.queue.Get()
	if isShutDown {
		return false
	}
	defer o.queue.Done(key)
	if err := o.reconcile(ctx, key); err != nil {
		log.Print(err)
		o.queue.AddRateLimited(key)
		return true
	}
	o.queue.Forget(key)
	return true
}

func (o *operator) reconcile(ctx context.Context, key string) error {
	object, exists, err := o.informer.GetStore().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	greeting := object.(*unstructured.Unstructured)
	name, _, _ := unstructured.NestedString(greeting.Object, "spec", "name")
	text := fmt.Sprintf("%s, %s!", o.word, name)
	if is, _, _ := unstructured.NestedString(greeting.Object, "status", "text"); is == text {
		o.finish(key)
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"text": text}})
	if err != nil {
		return err
	}
	namespaced := o.client.Namespace(greeting.GetNamespace())
	options := metav1.PatchOptions{FieldManager: "operator"}
	_, err = namespaced.Patch(ctx, greeting.GetName(), types.MergePatchType, patch, options, "status")
	return err
}

func (o *operator) finish(key string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.done[key] = true
	if len(o.done) == o.count {
		o.queue.ShutDown()
	}
}

// report prints milliseconds of CPU time and of wall time, and the largest resident set in bytes.
func report(began time.Time) {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	must(json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"cpu":  float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6,
		"wall": float64(time.Since(began).Microseconds()) / 1e3,
		"rss":  float64(usage.Maxrss * 1024),
	}))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
