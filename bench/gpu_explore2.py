import time, sys, torch, numpy as np, warnings
sys.path.insert(0,"src")
import ritz
def best(f,r=3):
    b=9e9
    for _ in range(r):
        torch.cuda.synchronize(); t=time.perf_counter(); o=f(); torch.cuda.synchronize(); b=min(b,time.perf_counter()-t)
    return b,o
def pca_row(n,d,k):
    torch.manual_seed(0)
    X=torch.randn(n,d,device="cuda")*torch.linspace(3,.5,d,device="cuda")+5
    t0=time.perf_counter(); ritz.PCA(k).fit(X); torch.cuda.synchronize(); t0=time.perf_counter()-t0
    t,m=best(lambda: ritz.PCA(k).fit(X),5)
    c=m.certificate_
    g,_=best(lambda: X.T@X); s,_=best(lambda: X.sum())
    S=torch.zeros(d,d,device="cuda",dtype=torch.float64); mu=X.mean(0,dtype=torch.float64)
    for i in range(0,n,1000000):
        z=X[i:i+1000000].double()-mu; S+=z.T@z
    lam=torch.linalg.eigvalsh(S).flip(0)[:k].cpu().numpy()/(n-1)
    err=np.abs(m.explained_variance_-lam).max()/lam[0]
    print(f"PCA {n}x{d} k={k}: first {t0:.2f}s best {t*1e3:.2f} ms; X.T@X fp32 {g*1e3:.2f} sum {s*1e3:.2f}; error/lam1 {err:.1e} rel width {float(c.width.max()/c.values[0]):.1e} {m.plan_.solver} {c.precision}",flush=True)
    return X,m
import cProfile,pstats
X,m=pca_row(2000000,128,20)
X,m=pca_row(20000000,128,20)
pr=cProfile.Profile(); pr.enable(); ritz.PCA(20).fit(X); torch.cuda.synchronize(); pr.disable(); pstats.Stats(pr).sort_stats("tottime").print_stats(12)
t,_=best(lambda: torch.pca_lowrank(X,q=20),1); print("pca_lowrank",t)
t,Z=best(lambda: m.transform(X)); print("transform",t,Z.device)
del X,Z; torch.cuda.empty_cache()
H=np.random.default_rng(0).standard_normal((1000000,768),dtype=np.float32)
for _ in range(2):
    t=time.perf_counter(); m=ritz.PCA(256,device="cuda").fit(H); t=time.perf_counter()-t; print(f"host 1Mx768 {t:.3f}s = {H.nbytes/t/1e9:.1f} GB/s {m.plan_.solver}",flush=True)
p=torch.empty(1<<28,dtype=torch.float32,pin_memory=True); dd=torch.empty(1<<28,dtype=torch.float32,device="cuda")
t,_=best(lambda: dd.copy_(p)); print(f"link pinned {p.numel()*4/t/1e9:.1f} GB/s"); 
q=torch.from_numpy(H[:300000]); 
t,_=best(lambda: q.cuda()); print(f"link pageable {q.numel()*4/t/1e9:.1f} GB/s")
